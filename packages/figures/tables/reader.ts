import { type Event, type EventId, type OrderStatus, toEuros } from '@tally/contract'
import { type Database, ints, type Tx, texts, uuids } from '@tally/platform'
import { type Kysely, sql } from 'kysely'
import type { Counter, OwnKey } from '../counting/counter.ts'
import {
  allAreas,
  type CounterChanges,
  counterNames,
  counters,
  noAreaChanges,
  noStatuses,
} from '../counting/counters.ts'
import { confirmedStatuses, getOrInsertComputed } from '../counting/facts.ts'
import { itemsPerBlock } from '../models/items.ts'
import { rowsReader, rowText } from './rows.ts'
import { statement, statusColumns, statusCounts } from './statement.ts'

type ScannedRow = { dayId: number; areaId: number; json: string }

const scans = counterNames.map(name => ({
  name,
  scan: statement<ScannedRow>(scanText(counters[name])),
  read: rowsReader(name),
}))

/** All stored counters of an event, as the changes that would lead to them from zero. */
export async function readCounters(db: Kysely<Database>, eventId: EventId): Promise<CounterChanges> {
  const stored: CounterChanges = new Map()
  for (const { name, scan, read } of scans) {
    const { rows } = await scan(eventId).execute(db)
    for (const { dayId, areaId, json } of rows) {
      const areas = getOrInsertComputed(stored, dayId, () => new Map())
      const area = getOrInsertComputed(areas, areaId, noAreaChanges)
      for (const [key, row] of read([JSON.parse(json)])) area[name].set(key, row)
    }
  }
  return stored
}

/** The text that reads all rows of an event, each as `rowText` makes it. */
export function scanText(counter: Counter): string {
  return `
select day_id as "dayId", area_id as "areaId", ${rowText(counter)} as json
from ${counter.table}
where event_id = $`
}

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

const confirmedTotal = statement(confirmedStatuses.map(status => statusColumns[status]).join(' + '))()

/** The paid orders of days that an event does not list (docs/records.md, Counting), and their takings in euros. */
export async function readUnlisted(
  db: Kysely<Database>,
  { eventId, days }: Pick<Event, 'eventId' | 'days'>,
): Promise<{ orders: number; takings: number }> {
  const listed = days.map(({ dayId }) => dayId)
  const { rows } = await sql<{ orders: number; cents: number }>`
select coalesce(sum(${confirmedTotal}), 0)::bigint as orders, coalesce(sum(sales_cents), 0)::bigint as cents
from daily_counters
where event_id = ${eventId} and area_id = ${allAreas} and day_id <> all(${listed}::int[])`.execute(db)
  return { orders: rows[0]?.orders ?? 0, takings: toEuros(rows[0]?.cents ?? 0) }
}

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
 * A counter or a row of counters: the row of a (day, area), or of a block of menu items or a payment method in it; a
 * menu item, a time bucket (`bucketStart`) or a payment method of a day. `key` is the block, the menu item, the bucket
 * or the method.
 */
export type CounterKey = {
  kind: 'areaRow' | 'blockRow' | 'paymentRow' | 'item' | 'timeBucket' | 'paymentMethod'
  eventId: EventId
  dayId: number
  areaId: number
  key: OwnKey
}

/** Whether Postgres has each of these, in their order; an item or a method of a day without an order is none. */
export async function hasCounters(tx: Tx, keys: readonly CounterKey[]): Promise<boolean[]> {
  if (keys.length === 0) return []
  const ofArea = sql`
    (stored.event_id, stored.day_id, stored.area_id) = (wanted.event_id, wanted.day_id, wanted.area_id)`
  const { rows } = await sql<{ isStored: boolean }>`
select case kind
  when 'areaRow' then exists (select from daily_counters as stored where ${ofArea})
  when 'blockRow' then exists (select from item_counters as stored where ${ofArea} and stored.block = wanted.key::int)
  when 'paymentRow' then exists (
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
