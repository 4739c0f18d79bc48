import type { EventId, OrganizationId } from '@tally/contract'
import { type Postgres, type RedisClient, type ScriptCalls, script } from '@tally/platform'

/**
 * The Redis keys of the read models; packages/access has its own. The braces contain the hash tag: keys of one event,
 * or of one organization, are in one slot of a Redis Cluster. A script of `n` keys uses several tags; it is called only
 * if Redis is one node. `quietMs` is the setting `REDIS_QUIET_AFTER`.
 */
export function redisKeys(prefix: string, quietMs: number) {
  return {
    /** How long an event's hash lives after it was written last. */
    quietMs,
    /**
     * Hash: `revision`, `epoch` (in which the documents were composed), `complete`, `version`, `event`, and the event's
     * documents by name. Tally 0.2 wrote items documents in pieces, to `event:{…}`.
     */
    event: (id: EventId) => `${prefix}:documents:{${id}}`,
    /** Hash: `revision`, `status`, `events` (the JSON of the list of events). */
    organization: (id: OrganizationId) => `${prefix}:organization:{${id}}`,
    /**
     * Hash by shard: `as-of:<topic>` (watermarks, epoch milliseconds), `epoch` (of the watermarks), `published:<topic>`
     * (the revision up to which everything is published), `revision:<eventId>` (the highest published revision of an
     * event).
     */
    shard: (shard: number) => `${prefix}:shard:{${shard}}`,
  }
}
export type RedisKeys = ReturnType<typeof redisKeys>

/** The value of an event's field `complete`: missing documents are empty. A new kind of document needs a new value. */
export const complete = '2'

/** Field of a shard's hash: the watermark of a topic's partition, in epoch milliseconds. */
export const asOfField = (topic: string) => `as-of:${topic}`
/** Field of a shard's hash: the revision up to which everything of a topic's partition is published. */
export const publishedField = (topic: string) => `published:${topic}`
/** Field of a shard's hash: the highest published revision of an event; an event's hash below it went back. */
export const eventRevisionField = (id: EventId) => `revision:${id}`

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
  /** See scripts/raiseMarks.1.lua. */
  raiseMarks: script<Call<(string | number)[], number>>(file('raiseMarks.1'), epoch),
}

/** A client with these scripts. */
export type ReadModelRedis = RedisClient & ScriptCalls<typeof readModelScripts>

/** Redis, and the Postgres that its documents are composed from. */
export type ReadModel = { db: Postgres; redis: ReadModelRedis; keys: RedisKeys }
