import type { EventId } from '@tally/contract'
import type { Postgres } from '@tally/storage'
import { composeDocuments, type Documents } from '../documents/documents.ts'
import { type EventHead, readEventHeads, versionOf } from '../events/reader.ts'
import { readEpoch } from '../offsets/reader.ts'
import { type Epochs, openEpochs } from './epochs.ts'
import type { RedisKeys } from './keys.ts'
import { takePieces } from './pieces.ts'
import type { ReadModelRedis } from './scripts.ts'
import { inSnapshot } from './snapshot.ts'
import type { Unpublished } from './unpublished.ts'

/** `epoch`: undefined if there was no event to publish. */
export type Published = {
  epoch: number | undefined
  events: { eventId: EventId; shard: number; revision: number }[]
}

export type PublishDeps = { db: Postgres; redis: ReadModelRedis; keys: RedisKeys; epochs?: Epochs }

/**
 * Composes the documents of events from Postgres and puts them into Redis under the revision guard; returns a revision
 * per event that Redis now has at least. A difference that does not fit what Redis has (or what Postgres now says) is
 * replaced by the whole documents. Throws if the epoch is not open (the database takes no writes) or changes meanwhile.
 */
export async function publishEvents(
  { db, redis, keys, epochs = openEpochs({ redis, keys }) }: PublishDeps,
  unpublished: Map<EventId, Unpublished>,
): Promise<Published> {
  const published: Published = { epoch: undefined, events: [] }
  let todo = [...unpublished]
  while (todo.length > 0) {
    const { piece, rest } = await takePieces(db, todo)
    todo = rest
    const part = new Map(piece)
    const { epoch, composed } = await compose(db, part, epochs)
    if (epoch !== (published.epoch ?? epoch)) throw new EpochError('Postgres has come back in a new epoch')
    published.epoch = epoch
    const replies = await Promise.all(
      composed.map(({ head, base, documents }) =>
        redis.publish(
          keys.event(head.eventId),
          head.revision,
          base,
          fieldsOf(head, epoch, base, documents, part.get(head.eventId)),
        ),
      ),
    )
    composed.forEach(({ head: { eventId, shard, revision } }, index) => {
      if (replies[index] === 'gap') todo.push([eventId, { whole: true }])
      else published.events.push({ eventId, shard, revision })
    })
  }
  return published
}

/** Documents cannot be published now. A transient error, as if Postgres were down. */
export class EpochError extends Error {
  override readonly name = 'EpochError'
  /** The SQLSTATE of a read-only database. */
  readonly code = '25006'
}

type Composed = { head: EventHead; base: number | 'whole'; documents: Documents }

function compose(
  db: Postgres,
  part: Map<EventId, Unpublished>,
  epochs: Epochs,
): Promise<{ epoch: number; composed: Composed[] }> {
  return inSnapshot(db, async snapshot => {
    const heads = await readEventHeads(snapshot, [...part.keys()])
    const epoch = heads.length === 0 ? await readEpoch(snapshot) : (heads[0]?.epoch ?? null)
    if (epoch === null) throw new EpochError('the epoch of the database is not open: it takes no writes')
    await epochs.enter(epoch, new Set(heads.map(({ shard }) => shard)))
    const bases = new Map(heads.map(head => [head.eventId, baseOf(head, part.get(head.eventId))]))
    const whole = heads.filter(({ eventId }) => bases.get(eventId) === 'whole').map(({ eventId }) => eventId)
    const areas = [...part].flatMap(([id, entry]) =>
      entry.whole || bases.get(id) === 'whole' ? [] : [...entry.areas.values()],
    )
    const documents = new Map([
      ...(whole.length === 0 ? [] : await composeDocuments(snapshot, { events: whole })),
      ...(areas.length === 0 ? [] : await composeDocuments(snapshot, { areas })),
    ])
    const composed = heads.map(head => ({
      head,
      base: bases.get(head.eventId) ?? 'whole',
      documents: documents.get(head.eventId) ?? new Map(),
    }))
    return { epoch, composed }
  })
}

/** A difference is valid only if the last revision that changed the event is the one it was made for. */
function baseOf(head: EventHead, entry: Unpublished | undefined): number | 'whole' {
  return entry === undefined || entry.whole || entry.to !== head.revision ? 'whole' : entry.since
}

function fieldsOf(
  head: EventHead,
  epoch: number,
  base: number | 'whole',
  documents: Documents,
  entry: Unpublished | undefined,
): string[] {
  const fields = ['epoch', String(epoch), ...([...documents].flat() as string[])]
  if (base === 'whole') fields.push('complete', '1')
  if (head.event !== undefined && (base === 'whole' || (entry?.whole === false && entry.event))) {
    fields.push('version', versionOf(head.event), 'event', JSON.stringify(head.event))
  }
  return fields
}
