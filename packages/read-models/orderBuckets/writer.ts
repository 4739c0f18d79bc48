import type { EventId } from '@tally/contract'
import type { CounterChanges, StatusCounts } from '@tally/core'
import { ints, uuids } from '@tally/storage'
import { sql } from 'kysely'
import { type AreaKey, flattenAreas } from '../counterRows.ts'
import { areZero, statusArrays, statusColumnNames, statusColumnSums } from '../statusCounts.ts'
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
  return sql`
insert into order_slots as stored (
  event_id, slot, day_id, area_id, ${statusColumnNames}
)
select * from unnest(
  ${uuids(rows.map(({ eventId }) => eventId))}::uuid[],
  ${ints(rows.map(({ slot }) => slot))}::int[],
  ${ints(rows.map(({ dayId }) => dayId))}::int[],
  ${ints(rows.map(({ areaId }) => areaId))}::int[],
  ${statusArrays(rows, counts => sql`${ints(counts)}::int[]`)}
)
on conflict (event_id, slot, day_id, area_id) do update set
  ${statusColumnSums}`
}

/** By event and bucket; within a bucket, days and areas stay as flattenAreas sorted them. */
function byKey(one: BucketRow, other: BucketRow): number {
  if (one.eventId !== other.eventId) return one.eventId < other.eventId ? -1 : 1
  return one.slot - other.slot
}
