import type { EventId, OrderStatus } from '@tally/contract'
import { allAreas, noStatuses } from '@tally/core'
import type { Database } from '@tally/storage'
import { type Kysely, sql } from 'kysely'
import { statusCounts } from '../statusCounts.ts'

/** The number of orders by status of a day, all areas. */
export async function readStatuses(
  db: Kysely<Database>,
  { eventId, dayId }: { eventId: EventId; dayId: number },
): Promise<Record<OrderStatus, number>> {
  const { rows } = await sql<Record<OrderStatus, number>>`
select ${statusCounts}
from daily_counters
where event_id = ${eventId} and day_id = ${dayId} and area_id = ${allAreas}`.execute(db)
  return rows[0] ?? noStatuses()
}
