import type { EventId } from '@tally/contract'
import { ints, type Tx, texts, uuids } from '@tally/platform'
import { sql } from 'kysely'
import { allAreas } from '../counting/changes.ts'
import type { OwnKey } from '../counting/counter.ts'
import { itemsPerBlock } from '../items/counter.ts'

/** Counters whose number is limited (docs/records.md, Limits of an event): an event's rows, or those of one day. */
export type CounterScope =
  | { of: 'rows'; eventId: EventId; dayId?: undefined }
  | { of: 'items' | 'timeBuckets' | 'paymentMethods'; eventId: EventId; dayId: number }

/** How many counters Postgres has of each scope, in order; an item or a payment method without an order is none. */
export async function countCounters(tx: Tx, scopes: readonly CounterScope[]): Promise<number[]> {
  const { rows } = await sql<{ count: number }>`
select case kind
  when 'rows' then
    (select count(*) from daily_counters as counter where counter.event_id = wanted.event_id)
    + (select count(*) from item_counters as counter where counter.event_id = wanted.event_id)
    + (select count(*) from payment_counters as counter where counter.event_id = wanted.event_id)
  when 'items' then (
    select count(*) from item_counters as counter, unnest(counter.orders) as item (orders)
    where (counter.event_id, counter.day_id, counter.area_id) = (wanted.event_id, wanted.day_id, ${allAreas}::int)
      and item.orders <> 0
  )
  when 'paymentMethods' then (
    select count(*) from payment_counters as counter
    where (counter.event_id, counter.day_id, counter.area_id) = (wanted.event_id, wanted.day_id, ${allAreas}::int)
      and counter.orders <> 0
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
 * A counter or a row of counters: the daily counter of a (day, area), a block of menu items or a payment method
 * (`payment`) in a (day, area), a menu item, a time bucket (`bucketStart`) or a payment method of a day. `key` is the
 * block, the menu item, the bucket or the method.
 */
export type CounterKey = {
  kind: 'area' | 'block' | 'payment' | 'item' | 'timeBucket' | 'paymentMethod'
  eventId: EventId
  dayId: number
  areaId: number
  key: OwnKey
}

/** Whether Postgres has each of these, in their order; an item or a method of a day without an order is none. */
export async function hasCounters(tx: Tx, keys: readonly CounterKey[]): Promise<boolean[]> {
  const ofArea = sql`
    (stored.event_id, stored.day_id, stored.area_id) = (wanted.event_id, wanted.day_id, wanted.area_id)`
  const { rows } = await sql<{ isStored: boolean }>`
select case kind
  when 'area' then exists (select from daily_counters as stored where ${ofArea})
  when 'block' then exists (select from item_counters as stored where ${ofArea} and stored.block = wanted.key::int)
  when 'payment' then exists (
    select from payment_counters as stored where ${ofArea} and stored.payment_method = wanted.key
  )
  when 'item' then exists (
    select from item_counters as stored
    where ${ofArea} and stored.block = wanted.key::int / ${itemsPerBlock}::int
      and stored.orders[wanted.key::int % ${itemsPerBlock}::int + 1] <> 0
  )
  when 'paymentMethod' then exists (
    select from payment_counters as stored
    where ${ofArea} and stored.payment_method = wanted.key and stored.orders <> 0
  )
  else exists (select from hourly_counters as stored where ${ofArea} and stored.bucket = wanted.key::bigint)
end as "isStored"
from unnest(
  ${keys.map(({ kind }) => kind)}::text[],
  ${uuids(keys.map(({ eventId }) => eventId))}::uuid[],
  ${ints(keys.map(({ dayId }) => dayId))}::int[],
  ${ints(keys.map(({ areaId }) => areaId))}::int[],
  ${texts(keys.map(({ key }) => String(key)))}::text[]
) with ordinality as wanted (kind, event_id, day_id, area_id, key, place)
order by place`.execute(tx)
  return rows.map(({ isStored }) => isStored)
}
