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
