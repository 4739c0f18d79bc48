import type { EventId, OrderStatus } from '@tally/contract'
import type { CounterChanges, StatusCounts } from '@tally/core'
import { ints, uuids } from '@tally/storage'
import { sql } from 'kysely'
import { type AreaKey, flattenAreas } from '../counterRows.ts'
import { areZero } from '../statusCounts.ts'
import type { Write } from '../write.ts'

type BucketRow = AreaKey & { slot: number; statuses: StatusCounts }

/** The write that adds changes to the order buckets; undefined if nothing changes. */
export function addOrderBuckets(changes: Map<EventId, CounterChanges>): Write | undefined {
  const rows = flattenAreas(changes, ({ orderBuckets }, key): BucketRow[] =>
    [...orderBuckets]
      .filter(([, counts]) => !areZero(counts))
      .map(([slot, statuses]) => ({ ...key, slot, statuses })),
  )
  if (rows.length === 0) return undefined
  rows.sort(byKey)
  const counts = (status: OrderStatus) => ints(rows.map(({ statuses }) => statuses[status]))
  return sql`
insert into order_slots as stored (
  event_id, slot, day_id, area_id, pre_order, pending, paid, preparing, ready_for_pickup, completed, cancelled
)
select * from unnest(
  ${uuids(rows.map(({ eventId }) => eventId))}::uuid[],
  ${ints(rows.map(({ slot }) => slot))}::int[],
  ${ints(rows.map(({ dayId }) => dayId))}::int[],
  ${ints(rows.map(({ areaId }) => areaId))}::int[],
  ${counts('PreOrder')}::int[],
  ${counts('Pending')}::int[],
  ${counts('Paid')}::int[],
  ${counts('Preparing')}::int[],
  ${counts('ReadyForPickup')}::int[],
  ${counts('Completed')}::int[],
  ${counts('Cancelled')}::int[]
)
on conflict (event_id, slot, day_id, area_id) do update set
  pre_order = stored.pre_order + excluded.pre_order,
  pending = stored.pending + excluded.pending,
  paid = stored.paid + excluded.paid,
  preparing = stored.preparing + excluded.preparing,
  ready_for_pickup = stored.ready_for_pickup + excluded.ready_for_pickup,
  completed = stored.completed + excluded.completed,
  cancelled = stored.cancelled + excluded.cancelled`
}

/** By event and bucket; within a bucket, days and areas stay as flattenAreas sorted them. */
function byKey(one: BucketRow, other: BucketRow): number {
  if (one.eventId !== other.eventId) return one.eventId < other.eventId ? -1 : 1
  return one.slot - other.slot
}
