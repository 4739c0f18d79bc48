import type { EventId, HourBucket, KpisAnswer } from '@tally/contract'
import type { Database } from '@tally/platform'
import { type Kysely, sql } from 'kysely'
import type { RowsOf } from '../counting/counters.ts'
import { confirmedOrders } from '../counting/facts.ts'
import { composeHours } from '../hours/document.ts'
import { composeItems, type ItemsDocument } from '../items/document.ts'
import { composeKpis, noSales } from '../kpis/document.ts'
import { composePayments, type PaymentFigures } from '../payments/document.ts'
import { hourIn } from '../time/hours.ts'
import { type AreaCounters, areasAsJson, type DocumentScope, parseAreas, withAsked } from './counters.ts'
import { type DocumentName, documentName, type View, views } from './names.ts'

export type DocumentOf = {
  kpis: KpisAnswer
  hours: HourBucket[]
  items: ItemsDocument
  payments: PaymentFigures[]
}

/** The documents of a (day, area) without orders; they are not stored. */
export const emptyDocument: DocumentOf = { kpis: noSales, hours: [], items: [], payments: [] }

/** The documents of one event, as JSON texts by name. */
export type Documents = Map<DocumentName, string>

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
