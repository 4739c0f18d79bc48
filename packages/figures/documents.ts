import type { EventId, HourBucket, KpisAnswer } from '@tally/contract'
import type { Database } from '@tally/platform'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Counter } from './counting/counter.ts'
import { type AreaKey, type CounterName, counters, type RowsOf } from './counting/counters.ts'
import { confirmedOrders } from './counting/facts.ts'
import { composeHours } from './models/hours.ts'
import { composeItems, type ItemsDocument } from './models/items.ts'
import { composeKpis, noSales } from './models/kpis.ts'
import { composePayments, type PaymentFigures } from './models/payments.ts'
import { type RowsJson, rowsReader, rowText } from './tables/rows.ts'
import { statement } from './tables/statement.ts'
import { hourIn } from './time.ts'

export type DocumentOf = {
  kpis: KpisAnswer
  hours: HourBucket[]
  items: ItemsDocument
  payments: PaymentFigures[]
}

/** The documents of a (day, area) without orders; they are not stored. */
export const emptyDocument: DocumentOf = { kpis: noSales, hours: [], items: [], payments: [] }

/** The documents of one event, as JSON texts by name. */
type Documents = Map<DocumentName, string>

/** Composes documents of events from their counters in Postgres, in one statement: all views or the `wanted` ones. */
export async function composeDocuments(
  db: Kysely<Database>,
  scope: Partial<DocumentScope>,
  wanted: readonly View[] = views,
): Promise<Map<EventId, Documents>> {
  const { rows } = await sql<{ eventId: EventId; timeZone: string | null; areas: string }>`
${withAsked({ events: [], areas: [], ...scope })}
select asked.event_id as "eventId", event.time_zone as "timeZone", ${areasAsJson(wanted)} as areas
from asked left join events as event using (event_id)
group by asked.event_id, event.time_zone`.execute(db)
  return new Map(
    rows.map(({ eventId, timeZone, areas }) => [eventId, documentsOf(parseAreas(areas), timeZone)]),
  )
}

/**
 * The documents of an event's counters, by name: the only way from counters to documents, for the projector, for a
 * query that finds none in Redis, and for repairs. `timeZone`: null while the event is not known; its hours are those
 * of UTC then.
 */
export function documentsOf(areas: AreaCounters[], timeZone: string | null): Documents {
  const documents: Documents = new Map()
  for (const { dayId, areaId, daily, hourly, items, payments } of areas) {
    const composed: { [Name in View]: DocumentOf[Name] | undefined } = {
      kpis: daily && kpisOf(daily),
      hours: hourly && composeHours(hourly, hourIn(timeZone ?? 'UTC')),
      items: items && composeItems(items),
      payments: payments && composePayments(payments),
    }
    for (const view of views) {
      const document = composed[view]
      if (document !== undefined) documents.set(documentName(view, dayId, areaId), JSON.stringify(document))
    }
  }
  return documents
}

function kpisOf(daily: RowsOf<'daily'>): KpisAnswer {
  for (const [, day] of daily) return composeKpis({ ...day, orders: confirmedOrders(day) })
  return noSales
}

/** The kinds of documents that a (day, area) has. */
export const views = ['kpis', 'hours', 'items', 'payments'] as const
export type View = (typeof views)[number]

/** The name of one document among those of its event: `items:42:0` is day 42, all areas. */
export type DocumentName = `${View}:${number}:${number}`
export function documentName(view: View, dayId: number, areaId: number): DocumentName {
  return `${view}:${dayId}:${areaId}`
}

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
type AreaCounters = { dayId: number; areaId: number } & {
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
  // The usual case: without that table the statement takes a tenth less.
  if (events.length === 0) return sql`with asked as materialized (${listed})`
  return sql`with asked as materialized (${stored} union all ${listed})`
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

/**
 * The text of a subselect: a counter's rows of `asked`, a (event, day, area), as one array. It goes by primary key,
 * whatever the planner knows about the table.
 */
export function jsonText(counter: Counter): string {
  return `(
  select json_agg(${rowText(counter)}) from ${counter.table}
  where (event_id, day_id, area_id) = (asked.event_id, asked.day_id, asked.area_id))`
}
