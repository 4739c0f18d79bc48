import type { EventId } from '@tally/contract'
import {
  type AreaKey,
  areasAsJson,
  type DocumentScope,
  documentsOf,
  type EventHead,
  parseAreas,
  storedEvent,
  versionOf,
  views,
  withAsked,
} from '@tally/figures'
import { readEpoch } from '@tally/offsets'
import { type Postgres, TransientError } from '@tally/platform'
import { sql } from 'kysely'
import { complete, type ReadModel } from './redis.ts'

/** `epoch`: undefined if there was no event to publish. */
export type Published = {
  epoch: number | undefined
  events: { eventId: EventId; shard: number; revision: number }[]
}

/**
 * What Redis lacks of an event: everything (`whole`), or the documents of some (day, area), and possibly the event's
 * record, that changed from revision `since` to revision `to`. `areas` is by `areaOf`.
 */
export type Unpublished =
  | { whole: true }
  | { whole: false; since: number; to: number; areas: Map<string, AreaKey>; event: boolean }

export type PublishDeps = ReadModel & {
  epochs?: Epochs
  /**
   * Called before an event is read of which a difference is published: the difference up to now, if it has grown, so
   * that it fits what Postgres says.
   */
  latest?: ((id: EventId) => Unpublished | undefined) | undefined
  /**
   * Called with each event whose documents this process cannot compose. Redis then has none of it, so that Postgres
   * answers, and it counts as published: no mark waits for it. Without this, `publishEvents` throws its error.
   */
  onUncomposable?: ((id: EventId, error: unknown) => void) | undefined
}

/**
 * Composes the documents of events from Postgres and puts them into Redis under the revision guard; returns a
 * revision per event that Redis now has at least. A difference that does not fit what Redis has (or what Postgres now
 * says) is replaced by the whole documents. Nothing is stored of an event whose record has not arrived: without its
 * organization no key opens it, and a till with random event ids would fill Redis. Its record is published with
 * everything else. Throws if the epoch is not open (the database takes no writes) or changes meanwhile.
 */
export async function publishEvents(
  { db, redis, keys, epochs = createEpochs({ redis, keys }), latest, onUncomposable }: PublishDeps,
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
      const outcome = await put({ redis, keys, onUncomposable }, state, entry)
      if (outcome === 'stored') published.events.push({ eventId, shard, revision })
      else todo.push([eventId, outcome === 'gap' || again.has(eventId) ? { whole: true } : entry])
      if (outcome === 'outdated') again.add(eventId)
    }
    await Promise.all(states.map(store))
  }
  return published
}

/** Documents cannot be published now. */
export class EpochError extends TransientError {
  override readonly name = 'EpochError'
}

/**
 * Stores an event's documents, or deletes them if they cannot be composed. `outdated`: a batch that the difference
 * lacks has changed it; `gap`: does not fit.
 */
async function put(
  { redis, keys, onUncomposable }: Pick<PublishDeps, 'redis' | 'keys' | 'onUncomposable'>,
  state: EventState,
  entry: Unpublished,
): Promise<'stored' | 'outdated' | 'gap'> {
  const { eventId, revision, error } = state
  if (error !== undefined) {
    if (onUncomposable === undefined) throw error
    await redis.del(keys.event(eventId))
    onUncomposable(eventId, error)
    return 'stored'
  }
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

/**
 * An event as it is in Postgres, and the fields (name, text, ...) of the documents that Redis lacks, or the `error` of
 * composing them. `event` is undefined if Redis has the record. `isAwaited`: Postgres has no record of the event yet.
 */
type EventState = Omit<EventHead, 'isRemoved'> & { isAwaited: boolean; documents: string[]; error?: unknown }

/**
 * Reads what is not yet published of these events, all at one moment; the statement is the snapshot. A removed event
 * has nothing, even if some of its counters are still to be deleted. The `offset 0` has each record looked up by its
 * key, whatever the planner knows about the tables.
 */
export async function readUnpublished(
  db: Postgres,
  unpublished: Map<EventId, Unpublished>,
): Promise<EventState[]> {
  const entries = [...unpublished]
  const withRecord = entries.flatMap(([id, entry]) => (entry.whole || entry.event ? [id] : []))
  const { rows } = await sql<
    Pick<EventState, 'eventId' | 'shard' | 'revision' | 'epoch' | 'isAwaited'> & {
      isScattered: boolean
      timeZone: string | null
      document: string | null
      areas: string | null
    }
  >`
${withAsked(scopeOf(unpublished))}
select head.event_id as "eventId", head.shard, head.revision, head.is_scattered as "isScattered",
  (select current_epoch()) as epoch, event.time_zone as "timeZone",
  event.document is null and not head.is_removed as "isAwaited",
  case when head.event_id = any(${withRecord}::uuid[]) then event.document end as document,
  case when not head.is_removed then
    (select ${areasAsJson(views)} from asked where asked.event_id = head.event_id)
  end as areas
from event_heads as head
left join lateral (
  select time_zone, document from events where event_id = head.event_id offset 0
) as event on true
where head.event_id = any(${entries.map(([id]) => id)}::uuid[])`.execute(db)
  return rows.map(({ isScattered, document, areas, timeZone, ...state }) => ({
    ...state,
    event: document === null ? undefined : storedEvent(document, state.shard, isScattered),
    ...composeOrError(areas, timeZone),
  }))
}

/** An error stays with its event: a sum above 2^53 cents, or a time zone that this process's data lacks. */
function composeOrError(
  areas: string | null,
  timeZone: string | null,
): Pick<EventState, 'documents' | 'error'> {
  try {
    return { documents: [...documentsOf(parseAreas(areas), timeZone)].flat() }
  } catch (error) {
    return { documents: [], error }
  }
}

function scopeOf(unpublished: Map<EventId, Unpublished>): DocumentScope {
  const scope: DocumentScope = { events: [], areas: [] }
  for (const [eventId, entry] of unpublished) {
    if (entry.whole) scope.events.push(eventId)
    else scope.areas.push(...entry.areas.values())
  }
  return scope
}

type Entry = [EventId, Unpublished]

/** Events per snapshot: enough to share its round trips, few enough to keep it short. */
const maxEvents = 20
/** Counter rows per snapshot (one of items holds sixteen): about 10 MB of documents. A larger event is alone. */
const maxRows = 5_000

/** Splits off the first entries that may be composed together; at least one. */
async function takePieces(db: Postgres, todo: Entry[]): Promise<{ piece: Entry[]; rest: Entry[] }> {
  const first = todo.slice(0, maxEvents)
  const whole = first.filter(([, entry]) => entry.whole).map(([id]) => id)
  const sizes = whole.length < 2 ? new Map<EventId, number>() : await countRows(db, whole)
  let rows = 0
  const end = first.findIndex(([id, entry]) => {
    rows += entry.whole ? (sizes.get(id) ?? 0) : entry.areas.size
    return rows > maxRows
  })
  const count = end < 0 ? first.length : Math.max(1, end)
  return { piece: todo.slice(0, count), rest: todo.slice(count) }
}

async function countRows(db: Postgres, eventIds: EventId[]): Promise<Map<EventId, number>> {
  const { rows } = await sql<{ event_id: EventId; rows: number }>`
select event_id, count(*) as rows
from (select event_id from item_counters union all select event_id from payment_counters) as counter
where event_id = any(${eventIds}::uuid[])
group by event_id`.execute(db)
  return new Map(rows.map(row => [row.event_id, row.rows]))
}

/**
 * Moves shards in Redis to the epoch of the database. When Postgres comes back without its last commits, Redis holds
 * watermarks that documents composed from then on do not reach. So each event's hash carries the epoch of its
 * documents, each shard's hash that of its watermarks, and an answer never combines documents with watermarks of an
 * older epoch. Entering an epoch removes the watermarks, which is safe for any process at any time
 * (docs/architecture.md, When Postgres or Redis goes back).
 */
export type Epochs = {
  /** Enters the epoch for each of these shards, unless this process has done so before. */
  enter(epoch: number, shards: Iterable<number>): Promise<void>
}

/** `onEntered` is called when shards have entered an epoch, so that their watermarks are written again. */
export function createEpochs(
  { redis, keys }: Pick<ReadModel, 'redis' | 'keys'>,
  onEntered: () => void = () => {},
): Epochs {
  const entered = new Map<number, number>()
  return {
    async enter(epoch, shards) {
      const fresh = [...shards].filter(shard => (entered.get(shard) ?? 0) < epoch)
      await Promise.all(
        fresh.map(async shard => {
          entered.set(shard, await redis.enterEpoch(keys.shard(shard), epoch))
        }),
      )
      if (fresh.length > 0) onEntered()
    },
  }
}

export const areaOf = (dayId: number, areaId: number): string => `${dayId}:${areaId}`

/** Merges two differences if the later one begins at the revision at which the earlier one ends. */
export function joinUnpublished(one: Unpublished | undefined, other: Unpublished): Unpublished {
  if (one === undefined) return other
  if (one.whole || other.whole) return { whole: true }
  const [earlier, later] = one.since <= other.since ? [one, other] : [other, one]
  if (earlier.to !== later.since) return { whole: true }
  const areas = new Map([...earlier.areas, ...later.areas])
  return { whole: false, since: earlier.since, to: later.to, areas, event: earlier.event || later.event }
}
