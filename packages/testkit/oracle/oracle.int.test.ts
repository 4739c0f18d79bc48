import { CompiledQuery } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { season } from '../records/season.ts'
import { freshDatabase } from '../servers/database.ts'
import { oracle } from './oracle.ts'
import { figuresOf } from './sqlFigures.ts'
import { sum, unique } from './words.ts'

/** The tables that `figuresOf` reads, from raw records. */
const tables = [
  'create table records (type text, value jsonb)',
  `create view winning as
   select distinct on (type, event_id, id) * from (
     select type, value, lower(value->>'eventId') as event_id,
       value->>(case type when 'refunds' then 'refundId' else 'orderId' end) as id,
       lower(value->>'eventId') || '/' || (value->>'orderId') as order_id
     from records where type in ('orders', 'refunds')
   ) known order by type, event_id, id, coalesce((value->>'version')::int, 1) desc`,
  `create view orders as
   select event_id, order_id as id, value->>'status' as status, (value->>'totalAmount')::numeric as total
   from winning where type = 'orders'`,
  `create view lines as
   select order_id, (line->>'menuItemId')::int as menu_item_id, (line->>'quantity')::int as quantity
   from winning, jsonb_array_elements(value->'items') as of_order(line) where type = 'orders'`,
  `create view refunds as
   select event_id || '/' || id as id, order_id, (value->>'amount')::numeric as amount, value
   from winning where type = 'refunds'`,
  `create view refund_lines as
   select id as refund_id, (line->>'menuItemId')::int as menu_item_id, (line->>'quantity')::int as quantity
   from refunds, jsonb_array_elements(value->'lines') as of_refund(line)
   where (value->>'refundedAt')::timestamptz >= '2026-08-19T00:00:00Z'`,
]

test('the oracle counts a season as SQL does over its raw records', async () => {
  const database = await freshDatabase({ migrated: false })
  onTestFinished(database.drop)
  const query = (text: string, values: unknown[] = []) =>
    database.db.executeQuery(CompiledQuery.raw(text, values))
  for (const table of tables) await query(table)
  const { festivals, records } = season(21, { events: 4, orders: 150 })
  const insert =
    "insert into records select one->>'type', one->'value' from jsonb_array_elements($1::jsonb) as of_season(one)"
  await query(insert, [JSON.stringify(records)])

  const expected = oracle(records)
  for (const { eventId } of festivals) {
    const event = expected.event(eventId)
    const days = [1, 2, 3, 4, 5]
    const kpis = days.map(dayId => event.kpis({ dayId }))
    const items = days.flatMap(dayId => event.itemCounts(dayId))
    expect(await figuresOf({ query }, eventId)).toEqual({
      totalOrders: sum(kpis.map(({ totalOrders }) => totalOrders)),
      totalSales: sum(kpis.map(({ totalSales }) => Math.round(totalSales * 100))) / 100,
      items: unique(items.map(({ menuItemId }) => menuItemId))
        .toSorted((one, other) => one - other)
        .map(menuItemId => {
          const own = items.filter(item => item.menuItemId === menuItemId)
          return {
            menuItemId,
            quantitySold: sum(own.map(({ quantitySold }) => quantitySold)),
            quantityRefunded: sum(own.map(({ quantityRefunded }) => quantityRefunded)),
          }
        }),
    })
  }
})
