import type { EventId } from '@tally/contract'
import { type RawBuilder, sql } from 'kysely'
import { type CounterName, counters, type RowsOf } from '../counting/counters.ts'
import { jsonText, type RowsJson, rowsReader } from '../tables/json.ts'
import type { AreaKey } from '../tables/rows.ts'
import { statement } from '../tables/statement.ts'
import { type View, views } from './names.ts'

/** Which counters to read: everything of some events, and some (event, day, area) of others. */
export type DocumentScope = { events: EventId[]; areas: AreaKey[] }

/** The counter that each kind of document is composed from. */
export const counterOf = {
  kpis: 'daily',
  hours: 'hourly',
  items: 'items',
  payments: 'payments',
} as const satisfies Record<View, CounterName>
type Counted = (typeof counterOf)[View]

/** The counters of one (day, area); undefined where nothing is stored, or where no document of them was asked for. */
export type AreaCounters = { dayId: number; areaId: number } & {
  [Name in Counted]?: RowsOf<Name> | undefined
}

/**
 * The start of a select: `asked` has a row per (event, day, area) of the scope. Each order is counted in the daily
 * counters by its status, so they have every (day, area) that any counter has.
 */
export function withAsked({ events, areas }: DocumentScope): RawBuilder<unknown> {
  const listed = sql`
select event_id, day_id, area_id
from unnest(
  ${areas.map(({ eventId }) => eventId)}::uuid[],
  ${areas.map(({ dayId }) => dayId)}::int[],
  ${areas.map(({ areaId }) => areaId)}::int[]
) as listed (event_id, day_id, area_id)`
  const stored = sql`
select event_id, day_id, area_id
from daily_counters where event_id = any(${events}::uuid[])`
  if (events.length === 0) return sql`with asked as materialized (${listed})`
  return sql`with asked as materialized (${stored}${areas.length === 0 ? sql`` : sql` union all ${listed}`})`
}

const selects = views.map(view => ({
  view,
  name: counterOf[view],
  rows: statement(jsonText(counters[counterOf[view]]))(),
  read: rowsReader(counterOf[view]),
}))

/**
 * Aggregates rows of `asked` into one JSON text, which `parseAreas` reads. One value for all counters of an event: a
 * row for each counter takes Postgres and this process several times as long.
 */
export function areasAsJson(wanted: readonly View[]): RawBuilder<string | null> {
  const rows = selects.map(({ view, rows }) => (wanted.includes(view) ? rows : sql`null`))
  return sql`json_agg(json_build_array(day_id, area_id, ${sql.join(rows)}))`
}

/** Reads what `areasAsJson` returns; null if `asked` has no row. Throws a RangeError if a counter is beyond 2^53. */
export function parseAreas(json: string | null): AreaCounters[] {
  const areas = (json === null ? [] : JSON.parse(json)) as [number, number, ...(RowsJson | null)[]][]
  return areas.map(([dayId, areaId, ...rows]) => {
    const read = selects.map(({ name, read }, index) => [name, rows[index] ? read(rows[index]) : undefined])
    return { dayId, areaId, ...Object.fromEntries(read) }
  })
}
