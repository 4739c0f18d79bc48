import type { EventId } from '@tally/contract'
import { type RawBuilder, sql } from 'kysely'
import type { AreaKey } from './counterRows.ts'

/** Which counters to read: everything of some events, or some (event, day, area). */
export type CounterScope = { events: EventId[] } | { areas: AreaKey[] }

/** The distinct events of a scope. */
export function eventIdsOf(scope: CounterScope): EventId[] {
  return 'events' in scope ? scope.events : [...new Set(scope.areas.map(({ eventId }) => eventId))]
}

/** The end of a select from `counter`: limits it to a scope. */
export function inScope(scope: CounterScope): RawBuilder<unknown> {
  if ('events' in scope) return sql`where counter.event_id = any(${scope.events}::uuid[])`
  return sql`
join unnest(
  ${scope.areas.map(({ eventId }) => eventId)}::uuid[],
  ${scope.areas.map(({ dayId }) => dayId)}::int[],
  ${scope.areas.map(({ areaId }) => areaId)}::int[]
) as asked (event_id, day_id, area_id) using (event_id, day_id, area_id)`
}

/** The key of a counter row. */
export type AreaRow = { event_id: EventId; day_id: number; area_id: number }
