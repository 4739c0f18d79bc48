import type { EventId } from '@tally/contract'
import { allAreas, itemsPerBlock } from '@tally/core'
import { bigints, ints, type Tx, uuids } from '@tally/storage'
import { sql } from 'kysely'

/** Counters whose number is limited (docs/records.md, Limits of an event): an event's rows, or those of one day. */
export type CounterScope =
  | { of: 'rows'; eventId: EventId; dayId?: undefined }
  | { of: 'items' | 'timeBuckets'; eventId: EventId; dayId: number }

/** How many counters Postgres has of each scope, in the order of `scopes`; an item without an order is none. */
export async function countCounters(tx: Tx, scopes: readonly CounterScope[]): Promise<number[]> {
  const { rows } = await sql<{ count: number }>`
select case kind
  when 'rows' then
    (select count(*) from daily_counters as counter where counter.event_id = wanted.event_id)
    + (select count(*) from item_counters as counter where counter.event_id = wanted.event_id)
  when 'items' then (
    select count(*) from item_counters as counter, unnest(counter.orders) as item (orders)
    where (counter.event_id, counter.day_id, counter.area_id) = (wanted.event_id, wanted.day_id, ${allAreas}::int)
      and item.orders <> 0
  )
  else (
    select count(*) from hourly_counters as counter
    where (counter.event_id, counter.day_id, counter.area_id) = (wanted.event_id, wanted.day_id, ${allAreas}::int)
  ) end as count
from unnest(
  ${scopes.map(scope => scope.of)}::text[],
  ${uuids(scopes.map(({ eventId }) => eventId))}::uuid[],
  ${ints(scopes.map(({ dayId = 0 }) => dayId))}::int[]
) with ordinality as wanted (kind, event_id, day_id, place)
order by place`.execute(tx)
  return rows.map(({ count }) => count)
}

/**
 * A counter or a row of counters: the daily counter of a (day, area), a block of menu items in a (day, area), a menu
 * item or a time bucket (`bucketStart`) of a day. `number` is the block, the menu item or the bucket.
 */
export type CounterKey = {
  kind: 'area' | 'block' | 'item' | 'timeBucket'
  eventId: EventId
  dayId: number
  areaId: number
  number: number
}

/** Whether Postgres has each of these counters, in their order; an item without an order is none. */
export async function hasCounters(tx: Tx, keys: readonly CounterKey[]): Promise<boolean[]> {
  const ofArea = sql`
    (stored.event_id, stored.day_id, stored.area_id) = (wanted.event_id, wanted.day_id, wanted.area_id)`
  const { rows } = await sql<{ isStored: boolean }>`
select case kind
  when 'area' then exists (select from daily_counters as stored where ${ofArea})
  when 'block' then exists (select from item_counters as stored where ${ofArea} and stored.block = wanted.number)
  when 'item' then exists (
    select from item_counters as stored
    where ${ofArea} and stored.block = wanted.number / ${itemsPerBlock}::bigint
      and stored.orders[wanted.number % ${itemsPerBlock}::bigint + 1] <> 0
  )
  else exists (select from hourly_counters as stored where ${ofArea} and stored.bucket = wanted.number)
end as "isStored"
from unnest(
  ${keys.map(({ kind }) => kind)}::text[],
  ${uuids(keys.map(({ eventId }) => eventId))}::uuid[],
  ${ints(keys.map(({ dayId }) => dayId))}::int[],
  ${ints(keys.map(({ areaId }) => areaId))}::int[],
  ${bigints(keys.map(({ number }) => number))}::bigint[]
) with ordinality as wanted (kind, event_id, day_id, area_id, number, place)
order by place`.execute(tx)
  return rows.map(({ isStored }) => isStored)
}
