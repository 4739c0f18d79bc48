import type { EventId } from '@tally/contract'
import { allAreas, type CounterChanges } from '@tally/core'
import { type CounterScope, countCounters } from '@tally/read-models'
import type { Tx } from '@tally/storage'

/** How many counters the orders of an event may make (docs/records.md, Limits of an event, says why these). */
export type EventLimits = Record<CounterScope['of'], number>

const eventLimits: EventLimits = { rows: 200_000, items: 10_000, timeBuckets: 50_000 }

/** The room of this many scopes is remembered; more than that, and all are counted again. */
const remembered = 100_000

/**
 * The room that events have left below their limits, as far as this process has counted it. Nearly every batch fits
 * without a question to Postgres: each counter that a batch changes takes room, whether it is new or not, and only
 * when that is used up the counters are counted again. What another process has added since is noticed then.
 */
export class EventRoom {
  readonly limits: EventLimits
  private readonly rooms = new Map<string, number>()

  constructor(limits: EventLimits = eventLimits) {
    this.limits = limits
  }

  /**
   * Takes room for the counters that a batch changes. Returns the events that may not have enough: their orders must
   * be admitted one by one (admission.ts), and have taken no room yet.
   */
  async take(tx: Tx, changes: ReadonlyMap<EventId, CounterChanges>): Promise<Set<EventId>> {
    if (this.rooms.size > remembered) this.rooms.clear()
    const needs = [...changes].flatMap(([eventId, days]) => needsOf(eventId, days))
    const unsure = needs.filter(({ scope, count }) => this.left(scope) < count).map(({ scope }) => scope)
    if (unsure.length > 0) await this.count(tx, unsure)
    const lacking = needs.filter(({ scope, count }) => this.left(scope) < count)
    const tight = new Set(lacking.map(({ scope }) => scope.eventId))
    for (const { scope, count } of needs) if (!tight.has(scope.eventId)) this.use(scope, count)
    return tight
  }

  /** The room of a scope; none before it was counted, and below zero if it holds more than the limit already. */
  left(scope: CounterScope): number {
    return this.rooms.get(scopeName(scope)) ?? 0
  }

  use(scope: CounterScope, count: number): void {
    this.rooms.set(scopeName(scope), this.left(scope) - count)
  }

  /** Counts the room of these scopes again. */
  async count(tx: Tx, scopes: CounterScope[]): Promise<void> {
    const counts = await countCounters(tx, scopes)
    for (const [index, scope] of scopes.entries())
      this.rooms.set(scopeName(scope), this.limits[scope.of] - (counts[index] as number))
  }
}

/** Tells two scopes apart. */
export const scopeName = ({ of, eventId, dayId }: CounterScope): string => `${of} ${eventId} ${dayId}`

/** The counters of each scope that changes of an event touch at most. */
function needsOf(eventId: EventId, days: CounterChanges): { scope: CounterScope; count: number }[] {
  let rows = 0
  const ofDays = [...days].flatMap(([dayId, areas]) => {
    for (const { items } of areas.values()) rows += 1 + items.size
    const whole = areas.get(allAreas)
    return [
      { scope: { of: 'items' as const, eventId, dayId }, count: whole?.items.size ?? 0 },
      { scope: { of: 'timeBuckets' as const, eventId, dayId }, count: whole?.hourly.size ?? 0 },
    ]
  })
  return [{ scope: { of: 'rows', eventId }, count: rows }, ...ofDays]
}
