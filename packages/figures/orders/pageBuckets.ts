import type { Database } from '@tally/platform'
import { type Kysely, sql } from 'kysely'
import { orderBucketMs } from '../orderBuckets/bucketOf.ts'
import { keptOrders, type OrderFilter } from './filter.ts'

/** The order buckets of a page: its orders are from `sinceMs` until before `untilMs`, after `skipped` of them. */
export type PageBuckets = { sinceMs: number; untilMs: number; skipped: number }

/**
 * Finds the page of `limit` orders after the first `offset` in a filtered list: adds up the buckets from the newest.
 * Undefined if they hold no more than `offset` orders.
 */
export async function findPageBuckets(
  db: Kysely<Database>,
  { eventId, dayId, areaId, status }: OrderFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<PageBuckets | undefined> {
  const { rows } = await sql<{ newest: number | null; oldest: number; newer: number }>`
select max(slot) as newest, min(slot) as oldest, min(up_to - orders)::bigint as newer
from (
  select slot, sum(${keptOrders(status)}) as orders, sum(sum(${keptOrders(status)})) over (order by slot desc) as up_to
  from order_slots
  where event_id = ${eventId}
  ${dayId === undefined ? sql`` : sql`and day_id = ${dayId}`}
  ${areaId === undefined ? sql`` : sql`and area_id = ${areaId}`}
  group by slot
) as walked
where orders > 0 and up_to > ${offset} and up_to - orders < ${offset + limit}`.execute(db)
  const [found] = rows
  if (found === undefined || found.newest === null) return undefined
  const { newest, oldest, newer } = found
  return { sinceMs: oldest * orderBucketMs, untilMs: (newest + 1) * orderBucketMs, skipped: offset - newer }
}
