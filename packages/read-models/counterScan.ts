import type { EpochMs, EventId } from '@tally/contract'
import {
  type AreaChanges,
  type CounterChanges,
  type ItemChange,
  noAreaChanges,
  type StatusCounts,
} from '@tally/core'
import type { Database } from '@tally/storage'
import { type Kysely, sql } from 'kysely'
import { itemsOfBlock } from './items/table.ts'
import { statusCounts } from './statusCounts.ts'

type Place = { day_id: number; area_id: number }
type DailyRow = Place & StatusCounts & { salesCents: number; itemsSold: number }
type HourlyRow = Place & { bucket: EpochMs; orders: number; salesCents: number }
type ItemRow = Place & ItemChange & { menu_item_id: number }
type OrderBucketRow = Place & StatusCounts & { slot: number }

/** All stored counters of an event, as the changes that would lead to them from zero. */
export async function readCounters(db: Kysely<Database>, eventId: EventId): Promise<CounterChanges> {
  const counters: CounterChanges = new Map()
  for (const { day_id, area_id, salesCents, itemsSold, ...statuses } of await readDaily(db, eventId)) {
    areaOf(counters, { day_id, area_id }).daily = { statuses, salesCents, itemsSold }
  }
  for (const { bucket, orders, salesCents, ...place } of await readHourly(db, eventId)) {
    areaOf(counters, place).hourly.set(bucket, { orders, salesCents })
  }
  for (const { menu_item_id, day_id, area_id, ...item } of await readItems(db, eventId)) {
    areaOf(counters, { day_id, area_id }).items.set(menu_item_id, item)
  }
  for (const { slot, day_id, area_id, ...statuses } of await readOrderBuckets(db, eventId)) {
    areaOf(counters, { day_id, area_id }).orderBuckets.set(slot, statuses)
  }
  return counters
}

function areaOf(counters: CounterChanges, { day_id, area_id }: Place): AreaChanges {
  const areas = counters.get(day_id) ?? new Map<number, AreaChanges>()
  const area = areas.get(area_id) ?? noAreaChanges()
  counters.set(day_id, areas.set(area_id, area))
  return area
}

async function readDaily(db: Kysely<Database>, eventId: EventId): Promise<DailyRow[]> {
  const { rows } = await sql<DailyRow>`
select day_id, area_id, ${statusCounts}, sales_cents as "salesCents", items_sold as "itemsSold"
from daily_counters where event_id = ${eventId}`.execute(db)
  return rows
}

async function readHourly(db: Kysely<Database>, eventId: EventId): Promise<HourlyRow[]> {
  const { rows } = await sql<HourlyRow>`
select day_id, area_id, bucket, orders, sales_cents as "salesCents"
from hourly_counters where event_id = ${eventId}`.execute(db)
  return rows
}

async function readItems(db: Kysely<Database>, eventId: EventId): Promise<ItemRow[]> {
  const { rows } = await sql<ItemRow>`
select day_id, area_id, item.menu_item_id, item.orders, item.quantity, item.gross_cents as "grossCents",
  item.refunded_quantity as "refundedQuantity", item.refunded_cents as "refundedCents"
from item_counters as counter cross join ${itemsOfBlock} where event_id = ${eventId}`.execute(db)
  return rows
}

async function readOrderBuckets(db: Kysely<Database>, eventId: EventId): Promise<OrderBucketRow[]> {
  const { rows } = await sql<OrderBucketRow>`
select slot, day_id, area_id, ${statusCounts} from order_slots where event_id = ${eventId}`.execute(db)
  return rows
}
