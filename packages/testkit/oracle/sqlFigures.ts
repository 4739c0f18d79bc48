// biome-ignore lint/suspicious/noExplicitAny: what the columns are, the statements say
type Sql = { query: (text: string, values: unknown[]) => Promise<{ rows: any[] }> }

/** What Tally must answer for an event of one day, by SQL over tables of a shop (docs/records.md, Counting). */
export async function figuresOf(sql: Sql, eventId: string) {
  const kpis = await sql.query(
    `${confirmed}
     select count(*) as orders, coalesce(sum(total - least(greatest(total, 0), refunded)), 0) as sales
     from (select total, coalesce((select sum(amount) from refunds where order_id = confirmed.id), 0) as refunded
           from confirmed) net`,
    [eventId],
  )
  const items = await sql.query(
    `${confirmed},
     ordered as (
       select order_id, menu_item_id, sum(quantity) as quantity
       from lines join confirmed on confirmed.id = order_id group by 1, 2
     ),
     counted as (
       select menu_item_id, ordered.quantity, least(greatest(ordered.quantity, 0), coalesce((
         select sum(l.quantity) from refund_lines l join refunds r on r.id = l.refund_id
         where r.order_id = ordered.order_id and l.menu_item_id = ordered.menu_item_id
       ), 0)) as refunded
       from ordered
     )
     select menu_item_id as item, sum(quantity - refunded) as sold, sum(refunded) as refunded
     from counted group by 1 order by 1`,
    [eventId],
  )
  const { orders = '0', sales = '0' } = kpis.rows[0] ?? {}
  return {
    totalOrders: Number(orders),
    totalSales: Number(sales),
    items: items.rows.map(({ item, sold, refunded }) => ({
      menuItemId: item,
      quantitySold: Number(sold),
      quantityRefunded: Number(refunded),
    })),
  }
}

const confirmed = `with confirmed as (
  select * from orders where event_id = $1 and status in ('Paid', 'Preparing', 'ReadyForPickup', 'Completed')
)`
