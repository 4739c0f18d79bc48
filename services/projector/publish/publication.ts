import {
  eventRevisionField,
  openEpochs,
  type PublishDeps,
  type Published,
  publishEvents,
  publishedField,
  publishOrganizations,
  type ReadModelRedis,
  type RedisKeys,
  readEpoch,
} from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import type { Mark, Pending } from './pending.ts'

export type PublicationDeps = {
  db: Postgres
  redis: ReadModelRedis
  keys: RedisKeys
  /** Called when documents of a new epoch were published. */
  onNewEpoch?: () => void
}

/** Earlier events that the marks cover as well, and what was added since about an event that is being published. */
type Context = { noted?: Published['events']; latest?: PublishDeps['latest'] }

/** Publishes pending publications; returns the published events. */
export type Publish = (pending: Pending, context?: Context) => Promise<Published['events']>

/**
 * Composes documents from Postgres and stores them in Redis, then (and never before) the revisions and marks that vouch
 * for them in the hashes of their shards. A crash in between leaves documents that no mark vouches for; the next owner
 * of the partition publishes them again.
 */
export function openPublication({ db, redis, keys, onNewEpoch = () => {} }: PublicationDeps): Publish {
  let isNewEpoch = false
  const epochs = openEpochs({ redis, keys }, () => {
    isNewEpoch = true
  })

  return async ({ organizations, events, marks }, { noted = [], latest } = {}) => {
    await publishOrganizations({ db, redis, keys }, organizations)
    const published = await publishEvents({ db, redis, keys, epochs, latest }, events)
    const epoch = published.epoch ?? (await readEpoch(db))
    if (epoch !== null)
      await advance({ redis, keys }, epoch, [...marks.values()], [...noted, ...published.events])
    if (isNewEpoch) onNewEpoch()
    isNewEpoch = false
    return published.events
  }
}

/** Stores the revisions of the published events and the marks of each shard, in one step. */
async function advance(
  { redis, keys }: Pick<PublicationDeps, 'redis' | 'keys'>,
  epoch: number,
  marks: Mark[],
  published: Published['events'],
): Promise<void> {
  const shards = new Set([...marks.map(({ partition }) => partition), ...published.map(({ shard }) => shard)])
  await Promise.all(
    [...shards].map(shard => {
      const ofShard = marks.filter(({ partition }) => partition === shard)
      const events = published.filter(event => event.shard === shard)
      return redis.advance(
        keys.shard(shard),
        epoch,
        ofShard.length,
        ...ofShard.flatMap(({ topic, since, revision }) => [publishedField(topic), since, revision]),
        ...events.flatMap(({ eventId, revision }) => [eventRevisionField(eventId), revision]),
      )
    }),
  )
}
