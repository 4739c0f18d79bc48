import { type AccessRedis, accessScripts, windowScript } from '@tally/access'
import { type ScriptCalls, script } from '@tally/platform'
import { type ReadModelRedis, readModelScripts, versionsScript } from '@tally/publication'

/** The scripts of the query service, for `openRedis`. */
export const queryScripts = {
  ...accessScripts,
  ...readModelScripts,
  /** See scripts/askBatch.n.lua. */
  askBatch: script<(keys: number, ...args: (string | number)[]) => Promise<string>>(
    new URL('scripts/askBatch.n.lua', import.meta.url),
    windowScript,
    versionsScript,
  ),
}

/** A client with these scripts. */
export type QueryRedis = AccessRedis & ReadModelRedis & ScriptCalls<Pick<typeof queryScripts, 'askBatch'>>
