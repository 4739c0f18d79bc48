import { type EventId, type MenuItemId, toEuros } from '@tally/contract'
import type { Database } from '@tally/platform'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { allAreas } from '../counting/counters.ts'
import { confirmedStatuses, factsOf, getOrInsertComputed } from '../counting/facts.ts'
import { type HourOf, quarterMs } from '../time.ts'
import { type CountedRow, countedColumns, countedOrder } from './known.ts'

/** A menu item in the orders of a day, of one area or all. */
export type ItemOfDay = {
  eventId: EventId
  dayId: number
  areaId?: number | undefined
  menuItemId: MenuItemId
}

/** What was sold of an item in a local hour, in euros, net of refunds. */
export type ItemHour = { hour: number; quantity: number; revenue: number }

const pageSize = 1_000

/**
 * The hours of a day with an order of the item, ascending; they add up to its figures in the items document. Read from
 * the orders (docs/decisions/0029-an-items-evening-is-read-from-its-orders.md): the work grows with the day's orders,
 * the memory does not.
 */
export async function readItemHours(
  snapshot: Kysely<Database>,
  of: ItemOfDay,
  hourOf: HourOf,
): Promise<ItemHour[]> {
  const hours = new Map<number, { quantity: number; cents: number }>()
  for await (const { at, item } of scanItem(snapshot, of)) {
    const hour = getOrInsertComputed(hours, hourOf(at), () => ({ quantity: 0, cents: 0 }))
    hour.quantity += item.quantity - item.refundedQuantity
    hour.cents += item.grossCents - item.refundedCents
  }
  return [...hours]
    .sort(([one], [other]) => one - other)
    .map(([hour, { quantity, cents }]) => ({ hour, quantity, revenue: toEuros(cents) }))
}

/** What each confirmed order of the day adds for the item. */
async function* scanItem(snapshot: Kysely<Database>, of: ItemOfDay) {
  for (let after = sql`true`; ; ) {
    const { rows } = await itemOrders(of, after).execute(snapshot)
    for (const row of rows) {
      const amount = row.refunded_cents
      const refunds = { amount, lines: row.refunded_lines === null ? [] : JSON.parse(row.refunded_lines) }
      const facts = factsOf({ order: countedOrder(row, JSON.parse(row.lines)), refunds })
      const item = facts?.items.find(({ menuItemId }) => menuItemId === of.menuItemId)
      if (item !== undefined) yield { at: row.ordered_at, item }
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageSize) return
    after = sql`(ordered_at, order_id) > (${last.ordered_at}::bigint, ${last.order_id})`
  }
}

/** A page of them by time. The counters say when the day had orders, so that those of other days are not read. */
const itemOrders = (
  { eventId, dayId, areaId, menuItemId }: ItemOfDay,
  after: RawBuilder<unknown>,
) => sql<CountedRow>`
with evening as materialized (
  select min(bucket) as first, max(bucket) + ${quarterMs}::int as last from hourly_counters
  where (event_id, day_id, area_id) = (${eventId}, ${dayId}::int, ${areaId ?? allAreas}::int)
)
select ${countedColumns} from orders
where event_id = ${eventId} and day_id = ${dayId} and status = any(${confirmedStatuses}::order_status[])
  and ordered_at between (select first from evening) and (select last from evening)
  and ${areaId === undefined ? sql`true` : sql`area_id = ${areaId}`} and ${after}
  and lines::text ~ ${`"menuItemId": ?${menuItemId}[,}]`}
order by ordered_at, order_id
limit ${pageSize}`
