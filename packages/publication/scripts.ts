import { type RedisClient, type ScriptCalls, script } from '@tally/platform'

/** Texts of fields of a hash; null for a missing one. */
export type Texts = (string | null)[]
type Call<Arguments extends unknown[], Reply> = (key: string, ...args: Arguments) => Promise<Reply>

const file = (name: string) => new URL(`scripts/${name}.lua`, import.meta.url)
/** Prepended to the scripts that write a shard's hash, each in an epoch. */
const epoch = file('epoch')
/** Prepended to the scripts that read versions. */
export const versionsScript = file('versions')

/** The scripts of this folder, for `openRedis`. */
export const readModelScripts = {
  /** See scripts/publish.1.lua. */
  publish: script<Call<(string | number | string[])[], 'stored' | 'older' | 'gap'>>(file('publish.1')),
  /** See scripts/readDocumentsOfEach.n.lua. */
  readDocumentsOfEach: script<(keys: number, ...args: (string | number)[]) => Promise<(Texts | string)[]>>(
    file('readDocumentsOfEach.n'),
  ),
  /** See scripts/raiseAsOf.1.lua. */
  raiseAsOf: script<Call<(string | number)[], number>>(file('raiseAsOf.1'), epoch),
  /** See scripts/enterEpoch.1.lua. */
  enterEpoch: script<Call<[epoch: number], number>>(file('enterEpoch.1'), epoch),
  /** See scripts/readVersions.n.lua. */
  readVersions: script<(keys: number, ...args: (string | number)[]) => Promise<string>>(
    file('readVersions.n'),
    versionsScript,
  ),
  /** See scripts/advance.1.lua. */
  advance: script<Call<(string | number)[], number>>(file('advance.1'), epoch),
}

/** A client with these scripts. */
export type ReadModelRedis = RedisClient & ScriptCalls<typeof readModelScripts>
