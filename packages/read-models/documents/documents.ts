import type { EventId, HourBucket, KpisAnswer } from '@tally/contract'
import {
  composeHours,
  composeItems,
  composeKpis,
  getOrInsertComputed,
  hourIn,
  type ItemsDocument,
  noSales,
} from '@tally/core'
import type { Database } from '@tally/storage'
import type { Kysely } from 'kysely'
import type { AreaRow, CounterScope } from '../counterScope.ts'
import { readDaily } from '../daily/reader.ts'
import { type HourlyRow, readHourly } from '../hourly/reader.ts'
import { readItems } from '../items/reader.ts'

/** The kinds of documents that a (day, area) has. */
export const views = ['kpis', 'hours', 'items'] as const
export type View = (typeof views)[number]
export type DocumentOf = { kpis: KpisAnswer; hours: HourBucket[]; items: ItemsDocument }

/** The documents of a (day, area) without orders; they are not stored. */
export const emptyDocument: DocumentOf = { kpis: noSales, hours: [], items: [] }

/** The name of one document among those of its event: `items:42:0` is day 42, all areas. */
export type DocumentName = `${View}:${number}:${number}`
export function documentName(view: View, dayId: number, areaId: number): DocumentName {
  return `${view}:${dayId}:${areaId}`
}

/** The documents of one event, as JSON texts by name. */
export type Documents = Map<DocumentName, string>

/**
 * Composes documents from the counters in Postgres: the only way from counters to documents, for the projector, for a
 * query that finds none in Redis, and for repairs. Composes all views or only the `wanted` ones. Use it in a snapshot.
 */
export async function composeDocuments(
  snapshot: Kysely<Database>,
  scope: CounterScope,
  wanted: readonly View[] = views,
): Promise<Map<EventId, Documents>> {
  const daily = wanted.includes('kpis') ? await readDaily(snapshot, scope) : []
  const hourly = wanted.includes('hours') ? await readHourly(snapshot, scope) : []
  const items = wanted.includes('items') ? await readItems(snapshot, scope) : []
  const documents = new Map<EventId, Documents>()
  const put = <Name extends View>(
    view: Name,
    { event_id, day_id, area_id }: AreaRow,
    document: DocumentOf[Name],
  ) => {
    const ofEvent = getOrInsertComputed(documents, event_id, () => new Map<DocumentName, string>())
    ofEvent.set(documentName(view, day_id, area_id), JSON.stringify(document))
  }
  for (const row of daily) put('kpis', row, composeKpis(row))
  for (const rows of byArea(hourly)) {
    const first = rows[0] as HourlyRow
    put('hours', first, composeHours(rows, hourIn(first.timeZone)))
  }
  for (const rows of byArea(items)) put('items', rows[0] as AreaRow, composeItems(rows))
  return documents
}

function byArea<Row extends AreaRow>(rows: Row[]): Iterable<Row[]> {
  return Map.groupBy(rows, ({ event_id, day_id, area_id }) => `${event_id}:${day_id}:${area_id}`).values()
}
