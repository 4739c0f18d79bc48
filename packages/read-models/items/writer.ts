import type { EventId } from '@tally/contract'
import type { CounterChanges, ItemChange } from '@tally/core'
import { sql } from 'kysely'
import { flattenAreas } from '../counterRows.ts'
import { bigints, ints, uuids } from '../postgres/binaryArrays.ts'
import type { Write } from '../writeBatch.ts'

/** The write that adds changes to the item counters; none where nothing changes. */
export function addItems(changes: Map<EventId, CounterChanges>): Write | undefined {
  const rows = flattenAreas(changes, ({ items }, key) =>
    [...items]
      .filter(([, change]) => !isEmpty(change))
      .sort(([one], [other]) => one - other)
      .map(([menuItemId, change]) => ({ ...key, menuItemId, ...change })),
  )
  if (rows.length === 0) return undefined
  return sql`
insert into item_counters as stored (
  event_id, day_id, area_id, menu_item_id, orders, quantity, gross_cents, refunded_quantity, refunded_cents
)
select * from unnest(
  ${uuids(rows.map(({ eventId }) => eventId))}::uuid[],
  ${ints(rows.map(({ dayId }) => dayId))}::int[],
  ${ints(rows.map(({ areaId }) => areaId))}::int[],
  ${ints(rows.map(({ menuItemId }) => menuItemId))}::int[],
  ${bigints(rows.map(({ orders }) => orders))}::bigint[],
  ${bigints(rows.map(({ quantity }) => quantity))}::bigint[],
  ${bigints(rows.map(({ grossCents }) => grossCents))}::bigint[],
  ${bigints(rows.map(({ refundedQuantity }) => refundedQuantity))}::bigint[],
  ${bigints(rows.map(({ refundedCents }) => refundedCents))}::bigint[]
)
on conflict (event_id, day_id, area_id, menu_item_id) do update set
  orders = stored.orders + excluded.orders,
  quantity = stored.quantity + excluded.quantity,
  gross_cents = stored.gross_cents + excluded.gross_cents,
  refunded_quantity = stored.refunded_quantity + excluded.refunded_quantity,
  refunded_cents = stored.refunded_cents + excluded.refunded_cents`
}

function isEmpty({ orders, quantity, grossCents, refundedQuantity, refundedCents }: ItemChange): boolean {
  return orders === 0 && quantity === 0 && grossCents === 0 && refundedQuantity === 0 && refundedCents === 0
}
