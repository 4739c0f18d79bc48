import { expect, test } from 'vitest'
import { insertOrdersText, replaceOrdersText } from './table.ts'

test('the statement that stores orders, as text', () => {
  expect(insertOrdersText + replaceOrdersText).toMatchInlineSnapshot(`
    "
    insert into orders (event_id, order_id, version, status, day_id, area_id, ordered_at, display_number, payment_method, paid_cents, total_cents, takeaway, table_number, lines)
    select unnest($::uuid[]), unnest($::text[]), unnest($::bigint[]), unnest($::text[])::order_status, unnest($::int[]), unnest($::int[]), unnest($::bigint[]), unnest($::text[]), unnest($::text[]), unnest($::bigint[]), unnest($::bigint[]), unnest($::boolean[]), unnest($::text[]), unnest($::json[])
    on conflict (event_id, order_id) do update set
      version = excluded.version, status = excluded.status, day_id = excluded.day_id, area_id = excluded.area_id, ordered_at = excluded.ordered_at, display_number = excluded.display_number, payment_method = excluded.payment_method, paid_cents = excluded.paid_cents, total_cents = excluded.total_cents, takeaway = excluded.takeaway, table_number = excluded.table_number, lines = excluded.lines"
  `)
})
