import type { EventId, OrderStatus } from '@tally/contract'
import type { Database } from '@tally/platform'
import { type Kysely, sql } from 'kysely'
import { allAreas, noStatuses } from '../counting/changes.ts'
import { statusCounts } from './statusColumns.ts'

/** The numbers of orders by status of days, over one area or all: one for each, in their order. */
export async function readStatuses(
  db: Kysely<Database>,
  days: readonly { eventId: EventId; dayId: number; areaId?: number | undefined }[],
): Promise<Record<OrderStatus, number>[]> {
  const { rows } = await sql<Record<OrderStatus, number | null>>`
select ${statusCounts}
from unnest(
  ${days.map(({ eventId }) => eventId)}::uuid[],
  ${days.map(({ dayId }) => dayId)}::int[],
  ${days.map(({ areaId = allAreas }) => areaId)}::int[]
) with ordinality as wanted (event_id, day_id, area_id, place)
left join daily_counters as counted using (event_id, day_id, area_id)
order by wanted.place`.execute(db)
  return rows.map(row => (isCounted(row) ? row : noStatuses()))
}

/** A day without orders has no counters. */
const isCounted = (row: Record<OrderStatus, number | null>): row is Record<OrderStatus, number> =>
  row.Paid !== null
