import type { EventId } from '@tally/contract'
import { versionOf } from '@tally/figures'
import { readEpoch } from '@tally/offsets'
import type { Postgres } from '@tally/platform'
import { createEpochs, type Epochs } from './epochs.ts'
import { complete, type RedisKeys } from './keys.ts'
import { takePieces } from './pieces.ts'
import type { ReadModelRedis } from './scripts.ts'
import { type EventState, readUnpublished } from './state.ts'
import type { Unpublished } from './unpublished.ts'

/** `epoch`: undefined if there was no event to publish. */
export type Published = {
  epoch: number | undefined
  events: { eventId: EventId; shard: number; revision: number }[]
}

export type PublishDeps = {
  db: Postgres
  redis: ReadModelRedis
  keys: RedisKeys
  epochs?: Epochs
  /**
   * Called before an event is read of which a difference is published: the difference up to now, if it has grown, so
   * that it fits what Postgres says.
   */
  latest?: ((id: EventId) => Unpublished | undefined) | undefined
}

/**
 * Composes the documents of events from Postgres and puts them into Redis under the revision guard; returns a
 * revision per event that Redis now has at least. A difference that does not fit what Redis has (or what Postgres now
 * says) is replaced by the whole documents. Nothing is stored of an event whose record has not arrived: without its
 * organization no key opens it, and a till with random event ids would fill Redis. Its record is published with
 * everything else. Throws if the epoch is not open (the database takes no writes) or changes meanwhile.
 */
export async function publishEvents(
  { db, redis, keys, epochs = createEpochs({ redis, keys }), latest }: PublishDeps,
  unpublished: Map<EventId, Unpublished>,
): Promise<Published> {
  const published: Published = { epoch: undefined, events: [] }
  let todo = [...unpublished]
  /** Found outdated once: `latest` may know the rest by the time of the next piece, but is not asked for ever. */
  const again = new Set<EventId>()
  while (todo.length > 0) {
    const { piece, rest } = await takePieces(db, todo)
    todo = rest
    const entries = new Map(
      piece.map(([id, entry]) => [id, (entry.whole ? undefined : latest?.(id)) ?? entry]),
    )
    const states = await readUnpublished(db, entries)
    const epoch = states.length === 0 ? await readEpoch(db) : (states[0]?.epoch ?? null)
    if (epoch === null) throw new EpochError('the epoch of the database is not open: it takes no writes')
    if (epoch !== (published.epoch ?? epoch)) throw new EpochError('Postgres has come back in a new epoch')
    published.epoch = epoch
    await epochs.enter(epoch, new Set(states.map(({ shard }) => shard)))
    const store = async (state: EventState): Promise<void> => {
      const { eventId, shard, revision, isAwaited } = state
      // Postgres may have lost the record of an event that was published.
      if (isAwaited) return void (await redis.del(keys.event(eventId)))
      const entry = entries.get(eventId) as Unpublished
      const outcome = await put({ redis, keys }, state, entry)
      if (outcome === 'stored') published.events.push({ eventId, shard, revision })
      else todo.push([eventId, outcome === 'gap' || again.has(eventId) ? { whole: true } : entry])
      if (outcome === 'outdated') again.add(eventId)
    }
    await Promise.all(states.map(store))
  }
  return published
}

/** Documents cannot be published now. A transient error, as if Postgres were down. */
export class EpochError extends Error {
  override readonly name = 'EpochError'
  /** The SQLSTATE of a read-only database. */
  readonly code = '25006'
}

/** Stores an event's documents. `outdated`: a batch that the difference lacks has changed it; `gap`: does not fit. */
async function put(
  { redis, keys }: Pick<PublishDeps, 'redis' | 'keys'>,
  state: EventState,
  entry: Unpublished,
): Promise<'stored' | 'outdated' | 'gap'> {
  const { eventId, revision } = state
  if (!entry.whole && entry.to !== revision) return 'outdated'
  const base = entry.whole ? 'whole' : entry.since
  const reply = await redis.publish(keys.event(eventId), revision, base, keys.quietMs, fieldsOf(state, entry))
  return reply === 'gap' ? 'gap' : 'stored'
}

function fieldsOf({ event, epoch, documents }: EventState, { whole }: Unpublished): string[] {
  const fields = ['epoch', String(epoch), ...documents]
  if (whole) fields.push('complete', complete)
  if (event !== undefined) fields.push('version', versionOf(event), 'event', JSON.stringify(event))
  return fields
}
