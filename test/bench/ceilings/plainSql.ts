import { fastify } from 'fastify'
import pg from 'pg'
import { report, setting } from './report.ts'

/** What people write first: the item counts of a day as one SQL statement over order lines; no key, no limit. */
const pool = new pg.Pool({ connectionString: setting('DATABASE_URL'), max: 8 })
const app = fastify()

const itemCounts = `
with sold as (
  select order_id, menu_item_id, min(item_name) as item_name, sum(quantity) as quantity
  from plain.orders join plain.order_lines using (event_id, order_id)
  where event_id = $1 and day_id = $2 and status in ('Paid', 'Preparing', 'ReadyForPickup', 'Completed')
  group by order_id, menu_item_id
), back as (
  select order_id, menu_item_id, sum(quantity) as quantity
  from plain.refund_lines where event_id = $1 group by order_id, menu_item_id
)
select menu_item_id as "menuItemId", min(item_name) as "itemName",
  sum(sold.quantity - least(sold.quantity, coalesce(back.quantity, 0)))::int as "quantitySold",
  sum(least(sold.quantity, coalesce(back.quantity, 0)))::int as "quantityRefunded"
from sold left join back using (order_id, menu_item_id)
group by menu_item_id order by menu_item_id`

app.get<{ Params: { eventId: string }; Querystring: { dayId: string } }>(
  '/api/v1/events/:eventId/live/item-counts',
  async ({ params, query }) => {
    const { rows } = await pool.query(itemCounts, [params.eventId, Number(query.dayId)])
    return { data: rows, meta: { generatedAt: new Date().toISOString(), eventId: params.eventId } }
  },
)
report({ at: 'listening', address: await app.listen({ host: '127.0.0.1', port: 0 }) })
