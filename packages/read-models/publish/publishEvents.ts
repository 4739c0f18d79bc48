import type { EventId } from '@tally/contract'
import type { AreaKey } from '../counterRows.ts'
import { composeDocuments, type Documents } from '../documents/documents.ts'
import { type EventHead, readEventHeads } from '../events/reader.ts'
import type { Postgres } from '../postgres/pool.ts'
import type { RedisClient } from '../redis/client.ts'
import type { RedisKeys } from '../redis/keys.ts'
import { inSnapshot } from './snapshot.ts'

/**
 * What of an event Redis does not have yet: everything (`whole`), or the documents of some (day, area) and
 * perhaps the event's record, that changed from revision `since` to revision `to`.
 */
export type Unpublished =
  | { whole: true }
  | { whole: false; since: number; to: number; areas: Map<string, AreaKey>; event: boolean }

/** Events of one snapshot: enough to share its round trips, few enough to keep it short and its documents few megabytes. */
const eventsASnapshot = 20

/**
 * Composes the documents of events from Postgres and puts them into Redis under the revision guard. What turns
 * out not to fit on what Redis has (or on what Postgres says by now) is published whole.
 */
export async function publishEvents(
  { db, redis, keys }: { db: Postgres; redis: RedisClient; keys: RedisKeys },
  unpublished: Map<EventId, Unpublished>,
): Promise<void> {
  const todo = [...unpublished]
  while (todo.length > 0) {
    const part = new Map(todo.splice(0, eventsASnapshot))
    const composed = await compose(db, part)
    const replies = await Promise.all(
      composed.map(async ({ head, base, documents }) =>
        redis.publish(
          keys.event(head.eventId),
          head.revision,
          base,
          fieldsOf(head, base, documents, part.get(head.eventId)),
        ),
      ),
    )
    composed.forEach(({ head }, index) => {
      if (replies[index] === 'gap') todo.push([head.eventId, { whole: true }])
    })
  }
}

type Composed = { head: EventHead; base: number | 'whole'; documents: Documents }

function compose(db: Postgres, part: Map<EventId, Unpublished>): Promise<Composed[]> {
  return inSnapshot(db, async snapshot => {
    const heads = await readEventHeads(snapshot, [...part.keys()])
    const bases = new Map(heads.map(head => [head.eventId, baseOf(head, part.get(head.eventId))]))
    const whole = heads.filter(({ eventId }) => bases.get(eventId) === 'whole').map(({ eventId }) => eventId)
    const areas = [...part].flatMap(([id, entry]) =>
      entry.whole || bases.get(id) === 'whole' ? [] : [...entry.areas.values()],
    )
    const documents = new Map([
      ...(whole.length === 0 ? [] : await composeDocuments(snapshot, { events: whole })),
      ...(areas.length === 0 ? [] : await composeDocuments(snapshot, { areas })),
    ])
    return heads.map(head => ({
      head,
      base: bases.get(head.eventId) ?? 'whole',
      documents: documents.get(head.eventId) ?? new Map(),
    }))
  })
}

/** A difference holds only where the last revision that changed the event is the one it was made for. */
function baseOf(head: EventHead, entry: Unpublished | undefined): number | 'whole' {
  return entry === undefined || entry.whole || entry.to !== head.revision ? 'whole' : entry.since
}

function fieldsOf(
  head: EventHead,
  base: number | 'whole',
  documents: Documents,
  entry: Unpublished | undefined,
): string[] {
  const fields = [...documents].flat() as string[]
  if (base === 'whole') fields.push('complete', '1')
  if (head.event !== undefined && (base === 'whole' || (entry?.whole === false && entry.event))) {
    fields.push('version', String(head.event.version), 'event', JSON.stringify(head.event))
  }
  return fields
}
