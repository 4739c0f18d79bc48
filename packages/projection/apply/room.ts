import type { EventId } from '@tally/contract'
import {
  allAreas,
  type CounterChanges,
  type CounterScope,
  countCounters,
  type LockedEvent,
  noAreaChanges,
} from '@tally/figures'
import type { Postgres, Tx } from '@tally/platform'
import type { Effects } from '../effects.ts'

/** How many counters the orders of an event may make (docs/records.md, Limits of an event, says why these). */
export type EventLimits = Record<CounterScope['of'], number>

const eventLimits: EventLimits = {
  rows: 200_000,
  items: 10_000,
  timeBuckets: 50_000,
  paymentMethods: 10_000,
}

/** After so many counts all are forgotten. */
const mostCounts = 100_000

/**
 * What a process has counted of an event, as of this revision: whoever writes counters stamps another one. The rooms
 * are by scope: exact if the event is near a limit, otherwise at most what is left.
 */
type Known = { revision: number; rooms: Map<string, number>; isNear: boolean }

/**
 * The room that events have left below their limits, as far as this process has counted it; memory never changes what
 * is decided, only how often Postgres has to count. Far from the limits, nearly every batch fits without a question:
 * each counter that a batch changes takes room, whether it is new or not, and only when that is used up the counters
 * are counted again. Near a limit that would be in each batch, at 45 ms for 200,000 rows: there the room is counted
 * once, and then kept exact by the counters that each batch makes or frees (admission.ts).
 */
export class EventRoom {
  readonly limits: EventLimits
  /** Where a rebuild projects into other tables: the live ones, whose orders have room whatever the limits say. */
  readonly live: Postgres | undefined
  private readonly most: number
  private readonly events = new Map<EventId, Known>()
  private counts = 0

  constructor(limits: EventLimits = eventLimits, most = mostCounts, live?: Postgres) {
    this.limits = limits
    this.most = most
    this.live = live
  }

  /**
   * Reserves room for the counters that a batch changes of locked events. Returns the events that are near a limit:
   * their room is exact (`remaining`), and nothing of it is reserved yet.
   */
  async reserve(
    tx: Tx,
    locked: ReadonlyMap<EventId, LockedEvent>,
    changes: ReadonlyMap<EventId, CounterChanges>,
  ): Promise<Set<EventId>> {
    if (this.counts > this.most) {
      this.events.clear()
      this.counts = 0
    }
    const revisionOf = (eventId: EventId) => locked.get(eventId)?.revision ?? 0
    const know = (eventId: EventId, isNear: boolean) =>
      this.events.set(eventId, { revision: revisionOf(eventId), rooms: new Map(), isNear })
    for (const eventId of changes.keys())
      if (this.events.get(eventId)?.revision !== revisionOf(eventId)) know(eventId, false)
    // The result, as this.events may be emptied while this batch counts.
    const near = new Set([...changes.keys()].filter(eventId => this.events.get(eventId)?.isNear))
    const far = [...changes].filter(([eventId]) => !near.has(eventId))
    const needs = far.flatMap(([eventId, days]) => needsOf(eventId, days))
    const lacking = (some: typeof needs) =>
      some.filter(({ scope, count }) => (this.left(scope) ?? 0) < count + this.margin(scope))

    const unsure = lacking(needs)
    if (unsure.length > 0) {
      await this.count(
        tx,
        unsure.map(({ scope }) => scope),
      )
      for (const { scope } of lacking(unsure)) {
        know(scope.eventId, true)
        near.add(scope.eventId)
      }
    }
    for (const { scope, count } of needs) this.consume(scope, count)
    return near
  }

  /** The exact room of scopes of events that are near a limit, by their names; below zero if they have too much. */
  async remaining(tx: Tx, scopes: CounterScope[]): Promise<Map<string, number>> {
    const rooms = new Map<string, number>()
    const lacking = new Map<string, CounterScope>()
    for (const scope of scopes) {
      const left = this.left(scope)
      if (left === undefined) lacking.set(scopeName(scope), scope)
      else rooms.set(scopeName(scope), left)
    }
    if (lacking.size === 0) return rooms
    return new Map([...rooms, ...(await this.count(tx, [...lacking.values()]))])
  }

  /** Takes room that is remembered. */
  consume(scope: CounterScope, count: number): void {
    const left = this.left(scope)
    if (left !== undefined) this.events.get(scope.eventId)?.rooms.set(scopeName(scope), left - count)
  }

  /** What is known of events holds on after a batch: refunds and event records make no counter and free none. */
  carry({ events, revision }: Effects): void {
    for (const [eventId, { before }] of events) {
      const known = this.events.get(eventId)
      if (known?.revision === before) known.revision = revision ?? before
    }
  }

  private left(scope: CounterScope): number | undefined {
    return this.events.get(scope.eventId)?.rooms.get(scopeName(scope))
  }

  /** An event is near a limit if less than a tenth of it would be left: it would soon be counted again and again. */
  private margin({ of }: CounterScope): number {
    return Math.floor(this.limits[of] / 10)
  }

  /** Counts the room of these scopes, and returns it by their names. */
  private async count(tx: Tx, scopes: CounterScope[]): Promise<[string, number][]> {
    this.counts += scopes.length
    const counts = await countCounters(tx, scopes)
    return scopes.map((scope, index) => {
      const room = this.limits[scope.of] - (counts[index] as number)
      this.events.get(scope.eventId)?.rooms.set(scopeName(scope), room)
      return [scopeName(scope), room]
    })
  }
}

/** Tells two scopes apart. */
export const scopeName = ({ of, eventId, dayId }: CounterScope): string => `${of} ${eventId} ${dayId}`

/** The counters of each scope that changes of an event touch at most. */
function needsOf(eventId: EventId, days: CounterChanges): { scope: CounterScope; count: number }[] {
  let rows = 0
  const ofDays = [...days].flatMap(([dayId, areas]) => {
    for (const { items, payments } of areas.values()) rows += 1 + items.size + payments.size
    const { items, hourly, payments } = areas.get(allAreas) ?? noAreaChanges()
    const of = { items: items.size, timeBuckets: hourly.size, paymentMethods: payments.size }
    return Object.entries(of).map(([of, count]) => ({ scope: { of, eventId, dayId } as CounterScope, count }))
  })
  return [{ scope: { of: 'rows', eventId }, count: rows }, ...ofDays]
}
