import type { EpochMs, EventId, OrganizationId } from '@tally/contract'
import type { Database } from '@tally/platform'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { confirmedStatuses } from '../counting/facts.ts'

/** The query for `ordered_at` of an event's latest confirmed order, without a row if there is none. */
export const lastSaleOf = (eventId: RawBuilder<unknown>) => sql`
  select ordered_at
  from orders
  where orders.event_id = ${eventId} and ordered_at is not null and status = any(${confirmedStatuses}::order_status[])
  order by ordered_at desc, order_id desc
  limit 1`

/**
 * When each event of an organization sold something last: the latest time of a confirmed order. An event without one is
 * absent. Reads one row of the order list's index per event.
 */
export async function readLastSales(
  db: Kysely<Database>,
  organizationId: OrganizationId,
): Promise<Map<EventId, EpochMs>> {
  const { rows } = await sql<{ eventId: EventId; soldAt: EpochMs }>`
select event.event_id as "eventId", sale.ordered_at as "soldAt"
from events as event cross join lateral (${lastSaleOf(sql.ref('event.event_id'))}) as sale
where event.organization_id = ${organizationId}`.execute(db)
  return new Map(rows.map(({ eventId, soldAt }) => [eventId, soldAt]))
}
