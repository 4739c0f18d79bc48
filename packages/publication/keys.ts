import type { EventId, OrganizationId } from '@tally/contract'

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
/** The value of an event's field `complete`: missing documents are empty. A new kind of document needs a new value. */
export const complete = '2'

/** Field of a shard's hash: the watermark of a topic's partition, in epoch milliseconds. */
export const asOfField = (topic: string) => `as-of:${topic}`
/** Field of a shard's hash: the revision up to which everything of a topic's partition is published. */
export const publishedField = (topic: string) => `published:${topic}`
/** Field of a shard's hash: the highest published revision of an event; an event's hash below it went back. */
export const eventRevisionField = (id: EventId) => `revision:${id}`

export type RedisKeys = ReturnType<typeof redisKeys>
