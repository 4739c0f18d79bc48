import type { EventId, OrganizationId } from '@tally/contract'

/**
 * Every key that Tally has in Redis. What stands in braces is the hash tag: keys of one event, or of one
 * organization, lie in one slot of a Redis Cluster, and no script touches two tags.
 */
export function redisKeys(prefix: string) {
  return {
    /**
     * Hash: `revision`, `epoch` (in which the documents were composed), `complete`, `version`, `event`, and the event's
     * documents by name.
     */
    event: (id: EventId) => `${prefix}:event:{${id}}`,
    /** Hash: `revision`, `status`, `events` (the JSON of the list of events). */
    organization: (id: OrganizationId) => `${prefix}:organization:{${id}}`,
    /** Requests used in the organization's current window; expires with the window. */
    window: (id: OrganizationId) => `${prefix}:window:{${id}}`,
    /**
     * Hash by shard: `as-of:<topic>` (watermarks, epoch milliseconds), `epoch` (of the watermarks), `published:<topic>`
     * (the revision up to which everything is published), `revision:<eventId>` (the highest published revision of an
     * event).
     */
    shard: (shard: number) => `${prefix}:shard:{${shard}}`,
    /** Hash of `<keyId>:<status>`: requests of an organization's keys in a piece of five minutes; expires. */
    requests: (id: OrganizationId, piece: number) => `${prefix}:requests:{${id}}:${piece}`,
    /** The JSON of one API key's record, without its secret. All lie in one slot: they are lost together, or not at all. */
    apiKey: (keyId: string) => `${prefix}:{key}:${keyId}`,
    /** When a copy of every API key was written, in epoch milliseconds; lost with them. */
    apiKeysCopied: `${prefix}:{key}-copied`,
    /** A name for the copies that Redis holds, made anew after each loss. */
    apiKeysEpoch: `${prefix}:{key}-epoch`,
    /** The latest round of copying all API keys that was begun. */
    apiKeysRound: `${prefix}:{key}-round`,
    /** The latest round that was finished: Postgres does not have the key of a copy from an earlier one. */
    apiKeysCopiedRound: `${prefix}:{key}-copied-round`,
  }
}
/** Field of a shard's hash: up to which moment everything of a topic's partition is counted, in epoch milliseconds. */
export const asOfField = (topic: string) => `as-of:${topic}`
/** Field of a shard's hash: the revision up to which everything of a topic's partition is published. */
export const publishedField = (topic: string) => `published:${topic}`
/**
 * Field of a shard's hash: the highest published revision of an event; an event's hash with a lower revision went back.
 */
export const eventRevisionField = (id: EventId) => `revision:${id}`

export type RedisKeys = ReturnType<typeof redisKeys>
