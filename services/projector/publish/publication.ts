import { readEpoch } from '@tally/offsets'
import type { Postgres } from '@tally/platform'
import {
  createEpochs,
  eventRevisionField,
  type PublishDeps,
  type Published,
  publishEvents,
  publishedField,
  publishOrganizations,
  type ReadModelRedis,
  type RedisKeys,
} from '@tally/publication'
import type { Pending } from './pending.ts'

export type Publish = ReturnType<typeof createPublication>
export type PublicationDeps = {
  db: Postgres
  redis: ReadModelRedis
  keys: RedisKeys
  /** The topic of organizations: its reader publishes all of them when Redis has lost its data. */
  organizationsTopic?: string
  /** Called when documents of a new epoch were published. */
  onNewEpoch?: () => void
}

/**
 * Composes documents from Postgres and stores them in Redis, then (and never before) the revisions and marks that vouch
 * for them in the hashes of their shards, those of each shard in one step. A crash in between leaves documents that no
 * mark vouches for; the next owner of the partition publishes them again.
 */
export function createPublication({ db, redis, keys, onNewEpoch = () => {} }: PublicationDeps) {
  let isNewEpoch = false
  const epochs = createEpochs({ redis, keys }, () => {
    isNewEpoch = true
  })

  const advance = async (epoch: number, pending: Pending, published: Published['events']): Promise<void> => {
    const marks = Map.groupBy(pending.marks.values(), ({ partition }) => partition)
    const events = Map.groupBy(published, ({ shard }) => shard)
    const advanceShard = (shard: number) => {
      const [ofTopics, ofEvents] = [marks.get(shard) ?? [], events.get(shard) ?? []]
      return redis.advance(
        keys.shard(shard),
        epoch,
        ofTopics.length,
        ...ofTopics.flatMap(({ topic, since, revision }) => [publishedField(topic), since, revision]),
        ...ofEvents.flatMap(({ eventId, revision }) => [eventRevisionField(eventId), revision]),
      )
    }
    await Promise.all([...new Set([...marks.keys(), ...events.keys()])].map(advanceShard))
  }

  /** Returns the published events. `covered`: earlier events that the marks cover too. `latest`: as in PublishDeps. */
  return async (pending: Pending, latest: PublishDeps['latest'], covered: Published['events'] = []) => {
    await publishOrganizations({ db, redis, keys }, pending.organizations)
    const published = await publishEvents({ db, redis, keys, epochs, latest }, pending.events)
    const epoch = published.epoch ?? (await readEpoch(db))
    if (epoch !== null) await advance(epoch, pending, [...covered, ...published.events])
    if (isNewEpoch) onNewEpoch()
    isNewEpoch = false
    return published.events
  }
}
