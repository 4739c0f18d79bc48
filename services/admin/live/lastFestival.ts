import { allAreas, composeDocuments, composeTrendPoint, trendDays } from '@tally/figures'
import type { Postgres } from '@tally/platform'
import type { DocumentTexts } from '@tally/views'
import type { ActiveEvent } from '../keys/events.ts'
import { documentOf } from './day.ts'
import type { PickedOfAll } from './pick.ts'

/** An earlier event with its takings, in euros, and the number of its dates. */
export type LastFestival = { event: ActiveEvent; totalSales: number; dates: number }

/**
 * The event of the organization that started last before the picked one and has sold something, with the takings of all
 * its days; undefined if there is none, or while one area is shown: its number means nothing in another event.
 */
export async function readLastFestival(
  db: Postgres,
  { events, event, areaId }: PickedOfAll,
): Promise<LastFestival | undefined> {
  if (areaId !== undefined) return undefined
  const last = events
    .filter(({ startDate, lastSaleAt }) => startDate < event.startDate && lastSaleAt !== null)
    .toSorted((one, other) => other.startDate - one.startDate)[0]
  if (last === undefined) return undefined
  const { eventId, days } = last
  const areas = days.map(({ dayId }) => ({ eventId, dayId, areaId: allAreas }))
  const documents: DocumentTexts = (await composeDocuments(db, { areas }, ['kpis'])).get(eventId) ?? new Map()
  const kpis = days.map(day => documentOf({ documents }, 'kpis', day))
  const { totalSales } = composeTrendPoint('', kpis)
  return { event: last, totalSales, dates: trendDays(days, days.length).length }
}
