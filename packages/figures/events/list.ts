import type { EpochMs, EventId, OrganizationId } from '@tally/contract'
import type { Database } from '@tally/platform'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { allAreas } from '../counting/counters.ts'
import { confirmedStatuses } from '../counting/facts.ts'
import { statusTotal } from '../tables/statement.ts'

/** An event as an operator sees it. Null: no record says it. */
export type EventOverview = {
  organizationId: OrganizationId | null
  organizationName: string | null
  /** Null for an organization without events. */
  eventId: EventId | null
  name: string | null
  startDate: EpochMs | null
  /** The time of its latest confirmed order. */
  lastSaleAt: EpochMs | null
  /** In every status. */
  orders: number
}

/** Which events to list; without a field, all and the organizations without events. Removed events are never listed. */
export type EventChoice = {
  organizationId?: OrganizationId | undefined
  eventIds?: EventId[] | undefined
  /** Only events whose start, days and last sale are all before this time. */
  endedBefore?: EpochMs | undefined
}

/** Events by the name of their organization and their start. Reads one row of the order list's index per event. */
export async function readEventList(
  db: Kysely<Database>,
  choice: EventChoice = {},
): Promise<EventOverview[]> {
  const { organizationId, eventIds, endedBefore } = choice
  const { rows } = await sql<EventOverview>`
with known as (
  select head.event_id, event.organization_id, event.document
  from event_heads as head left join events as event using (event_id)
  where not head.is_removed
)
select organization_id as "organizationId", nullif(organization.name, '') as "organizationName",
  known.event_id as "eventId", known.document->>'name' as name, (known.document->>'startDate')::bigint as "startDate",
  sale.ordered_at as "lastSaleAt", coalesce(counted.orders, 0)::bigint as orders
from known full join organizations as organization using (organization_id)
  left join lateral (${lastSaleOf(sql.ref('known.event_id'))}) as sale on true
  left join lateral (
    select sum(${statusTotal}) as orders
    from daily_counters where event_id = known.event_id and area_id = ${allAreas}
  ) as counted on true
where true
  ${organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`}
  ${eventIds === undefined ? sql`` : sql`and known.event_id = any(${eventIds}::uuid[])`}
  ${endedBefore === undefined ? sql`` : sql`and ${endOfEvent} < ${endedBefore}`}
order by organization.name nulls last, organization_id, "startDate", known.event_id`.execute(db)
  return rows
}

/**
 * The latest time that is known of an event: its last sale, its start, the end of its last day in any time zone. A day
 * may be in the year 0000 (docs/records.md), which Postgres does not have.
 */
const endOfEvent = sql`greatest(
  sale.ordered_at,
  (known.document->>'startDate')::bigint,
  (
    select (extract(epoch from max(day->>'date')::date) * 1000)::bigint + ${36 * 3_600_000}
    from json_array_elements(known.document->'days') as day
    where day->>'date' >= '0001'
  )
)`

/** The query for `ordered_at` of an event's latest confirmed order, without a row if there is none. */
const lastSaleOf = (eventId: RawBuilder<unknown>) => sql`
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
