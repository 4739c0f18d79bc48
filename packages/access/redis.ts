import type { OrganizationId } from '@tally/contract'
import { type RedisClient, type ScriptCalls, script } from '@tally/platform'

/** Prepended to the scripts that take requests from windows of the rate limit. */
export const windowScript = new URL('requests/scripts/window.lua', import.meta.url)
/** The result for requests of one organization that were taken together; null if Redis does not know its status. */
export type Taken = [granted: number, limit: number, remaining: number, resetMs: number] | null

/** The scripts of this package, for `openRedis`. */
export const accessScripts = {
  /** See requests/scripts/takeRequests.2.lua. */
  takeRequests: script<
    (window: string, organization: string, ...args: (string | number)[]) => Promise<Taken>
  >(new URL('requests/scripts/takeRequests.2.lua', import.meta.url), windowScript),
  /** See copies/scripts/beginCopies.2.lua. */
  beginCopies: script<(roundKey: string, copiedRoundKey: string) => Promise<number>>(
    new URL('copies/scripts/beginCopies.2.lua', import.meta.url),
  ),
  /** See copies/scripts/putApiKey.3.lua. */
  putApiKey: script<
    (
      key: string,
      roundKey: string,
      copiedRoundKey: string,
      copy: string,
      isRevoked: '0' | '1',
      lifeSeconds: number,
      round: number,
    ) => Promise<'stored' | 'older'>
  >(new URL('copies/scripts/putApiKey.3.lua', import.meta.url)),
  /** See copies/scripts/markCopied.3.lua. */
  markCopied: script<
    (
      epochKey: string,
      copiedKey: string,
      copiedRoundKey: string,
      epoch: string,
      nowMs: number,
      lifeSeconds: number,
      round: number,
    ) => Promise<'marked' | 'lost'>
  >(new URL('copies/scripts/markCopied.3.lua', import.meta.url)),
  /** See screens/takeScreen.1.lua. */
  takeScreen: script<(screensKey: string, place: string, most: number, heldMs: number) => Promise<0 | 1>>(
    new URL('screens/takeScreen.1.lua', import.meta.url),
  ),
}

/** A client with these scripts. */
export type AccessRedis = RedisClient & ScriptCalls<typeof accessScripts>

/** The Redis keys of this package; hash tags as in the read models' keys. */
export function accessKeys(prefix: string) {
  return {
    /** Requests used in the organization's current window; expires with the window. */
    window: (id: OrganizationId) => `${prefix}:window:{${id}}`,
    /** Hash of `<keyId>:<status>`: requests of an organization's keys in five minutes; expires. */
    requests: (id: OrganizationId, piece: number) => `${prefix}:requests:{${id}}:${piece}`,
    /** Sorted set of the live screens that an organization, session or link has open; expires with the last one. */
    screens: (owner: string) => `${prefix}:screens:{${owner}}`,
    /** One API key's record as JSON, without its secret. All are in one slot: they are lost together or not at all. */
    apiKey: (keyId: string) => `${prefix}:{key}:${keyId}`,
    /** When a copy of every API key was written, in epoch milliseconds; lost with them. */
    apiKeysCopied: `${prefix}:{key}-copied`,
    /** A random name for the copies that Redis holds; a loss of data removes it. */
    apiKeysEpoch: `${prefix}:{key}-epoch`,
    /** The latest round of copying all API keys that was started. */
    apiKeysRound: `${prefix}:{key}-round`,
    /** The latest round that was finished: the key of a copy from an earlier round is no longer in Postgres. */
    apiKeysCopiedRound: `${prefix}:{key}-copied-round`,
  }
}
export type AccessKeys = ReturnType<typeof accessKeys>
