/** The tables that come to mind first: orders, and a row for each of their lines. */
export const plainTables = `
create schema plain;
create table plain.orders (
  event_id uuid, order_id text, version int, status text, day_id int, area_id int, ordered_at timestamptz,
  total numeric, primary key (event_id, order_id)
);
create table plain.order_lines (
  event_id uuid, order_id text, menu_item_id int, item_name text, quantity int, unit_price numeric
);
create index on plain.order_lines (event_id, order_id);
create table plain.refunds (
  event_id uuid, refund_id text, order_id text, amount numeric, primary key (event_id, refund_id)
);
create table plain.refund_lines (
  event_id uuid, refund_id text, order_id text, menu_item_id int, quantity int, amount numeric
);
create index on plain.refund_lines (event_id, order_id);
create index on plain.orders (event_id, day_id);`

/** Fills them from Tally's own tables, in the same database; how they were filled is not what is measured. */
export const fillFromTally = `
insert into plain.orders
select event_id, order_id, version, status, day_id, area_id, to_timestamp(ordered_at / 1000.0), total_cents / 100.0
from orders where version > 0;
insert into plain.order_lines
select event_id, order_id, (line->>'menuItemId')::int, line->>'itemName', (line->>'quantity')::int,
  (line->>'unitPrice')::numeric
from orders, json_array_elements(lines) as line where version > 0;
insert into plain.refunds select event_id, refund_id, order_id, amount_cents / 100.0 from refunds;
insert into plain.refund_lines
select event_id, refund_id, order_id, (line->>'menuItemId')::int, (line->>'quantity')::int, (line->>'amount')::numeric
from refunds, json_array_elements(lines) as line;
analyze plain.orders, plain.order_lines, plain.refunds, plain.refund_lines;`
