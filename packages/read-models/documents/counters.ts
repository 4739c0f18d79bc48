import type { EpochMs, EventId } from '@tally/contract'
import type { BucketTotals, DailyTotals, ItemTotals } from '@tally/core'
import { type RawBuilder, sql } from 'kysely'
import type { AreaKey } from '../counterRows.ts'
import { itemsPerBlock } from '../items/table.ts'
import type { View } from './names.ts'

/** Which counters to read: everything of some events, and some (event, day, area) of others. */
export type CounterScope = { events: EventId[]; areas: AreaKey[] }

/** The counters of one (day, area); undefined where nothing is stored, or where the view was not asked for. */
export type AreaCounters = {
  dayId: number
  areaId: number
  daily: DailyTotals | undefined
  buckets: BucketTotals[] | undefined
  items: ItemTotals[] | undefined
}

/**
 * The start of a select: `asked` has a row per (event, day, area) of the scope. Each order is counted in the daily
 * counters by its status, so they have every (day, area) that any counter has.
 */
export function withAsked({ events, areas }: CounterScope): RawBuilder<unknown> {
  const listed = sql`
select event_id, day_id, area_id
from unnest(
  ${areas.map(({ eventId }) => eventId)}::uuid[],
  ${areas.map(({ dayId }) => dayId)}::int[],
  ${areas.map(({ areaId }) => areaId)}::int[]
) as listed (event_id, day_id, area_id)`
  const stored = sql`
select event_id, day_id, area_id
from daily_counters where event_id = any(${events}::uuid[])`
  if (events.length === 0) return sql`with asked as materialized (${listed})`
  return sql`with asked as materialized (${stored}${areas.length === 0 ? sql`` : sql` union all ${listed}`})`
}

/**
 * Aggregates rows of `asked` into one JSON text, which `parseAreas` reads. One value for all counters of an event: a
 * row for each counter takes Postgres and this process several times as long. The subselects go by primary key,
 * whatever the planner knows about the tables.
 */
export function areasAsJson(views: readonly View[]): RawBuilder<string | null> {
  const ofArea = sql`(event_id, day_id, area_id) = (asked.event_id, asked.day_id, asked.area_id)`
  const selects: Record<View, RawBuilder<unknown>> = {
    kpis: sql`(
  select json_build_array(paid + preparing + ready_for_pickup + completed, sales_cents, items_sold)
  from daily_counters where ${ofArea})`,
    hours: sql`(
  select json_agg(json_build_array(bucket, orders, sales_cents)) from hourly_counters where ${ofArea})`,
    items: sql`(select ${blocksAsJson} from item_counters where ${ofArea})`,
  }
  const select = (view: View) => (views.includes(view) ? selects[view] : sql`null`)
  return sql`json_agg(
  json_build_array(day_id, area_id, ${select('kpis')}, ${select('hours')}, ${select('items')})
)`
}

const blocksAsJson = sql`json_agg(
  json_build_array(block, orders, quantity, gross_cents, refunded_quantity, refunded_cents) order by block
)`

type DailyJson = [orders: number, salesCents: number, itemsSold: number]
type BucketJson = [bucket: number, orders: number, salesCents: number]
/** The columns of a block: an array per counter, with a number per menu item. */
type BlockJson = [
  block: number,
  orders: number[],
  quantity: number[],
  grossCents: number[],
  refundedQuantity: number[],
  refundedCents: number[],
]
type AreaJson = [
  dayId: number,
  areaId: number,
  daily: DailyJson | null,
  buckets: BucketJson[] | null,
  blocks: BlockJson[] | null,
]

/** Reads what `areasAsJson` returns; null if `asked` has no row. Throws RangeError if a counter is beyond 2^53. */
export function parseAreas(json: string | null): AreaCounters[] {
  const areas = (json === null ? [] : JSON.parse(json)) as AreaJson[]
  return areas.map(([dayId, areaId, daily, buckets, blocks]) => ({
    dayId,
    areaId,
    daily: daily === null ? undefined : dailyTotals(daily),
    buckets: buckets?.map(bucketTotals),
    items: blocks?.flatMap(itemTotals),
  }))
}

const dailyTotals = ([orders, salesCents, itemsSold]: DailyJson): DailyTotals => ({
  orders: safe(orders),
  salesCents: safe(salesCents),
  itemsSold: safe(itemsSold),
})

const bucketTotals = ([bucket, orders, salesCents]: BucketJson): BucketTotals => ({
  bucket: safe(bucket) as EpochMs,
  orders: safe(orders),
  salesCents: safe(salesCents),
})

/** The menu items of a block that at least one order has; a document shows no others. */
function itemTotals([
  block,
  orders,
  quantity,
  grossCents,
  refundedQuantity,
  refundedCents,
]: BlockJson): ItemTotals[] {
  const items: ItemTotals[] = []
  for (let place = 0; place < itemsPerBlock; place++) {
    if (orders[place] === 0) continue
    items.push({
      menuItemId: block * itemsPerBlock + place,
      orders: safe(orders[place]),
      quantity: safe(quantity[place]),
      grossCents: safe(grossCents[place]),
      refundedQuantity: safe(refundedQuantity[place]),
      refundedCents: safe(refundedCents[place]),
    })
  }
  return items
}

function safe(value: number | undefined): number {
  if (!Number.isSafeInteger(value)) throw new RangeError('a counter of the database is beyond 2^53')
  return value as number
}
