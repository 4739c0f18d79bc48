insert into daily_counters as stored (event_id, day_id, area_id, pre_order, pending, paid, preparing, ready_for_pickup, completed, cancelled, sales_cents, items_sold)
select * from unnest($::uuid[], $::int[], $::int[], $::bigint[], $::bigint[], $::bigint[], $::bigint[], $::bigint[], $::bigint[], $::bigint[], $::bigint[], $::bigint[])
on conflict (event_id, day_id, area_id) do update set
  pre_order = stored.pre_order + excluded.pre_order,
  pending = stored.pending + excluded.pending,
  paid = stored.paid + excluded.paid,
  preparing = stored.preparing + excluded.preparing,
  ready_for_pickup = stored.ready_for_pickup + excluded.ready_for_pickup,
  completed = stored.completed + excluded.completed,
  cancelled = stored.cancelled + excluded.cancelled,
  sales_cents = stored.sales_cents + excluded.sales_cents,
  items_sold = stored.items_sold + excluded.items_sold;

select day_id as "dayId", area_id as "areaId", json_build_array(0, pre_order, pending, paid, preparing, ready_for_pickup, completed, cancelled, sales_cents, items_sold) as json
from daily_counters
where event_id = $;

delete from daily_counters where event_id = $ and pre_order = 0 and pending = 0 and paid = 0 and preparing = 0 and ready_for_pickup = 0 and completed = 0 and cancelled = 0 and sales_cents = 0 and items_sold = 0;

insert into hourly_counters as stored (event_id, day_id, area_id, bucket, orders, sales_cents)
select * from unnest($::uuid[], $::int[], $::int[], $::bigint[], $::bigint[], $::bigint[])
on conflict (event_id, day_id, area_id, bucket) do update set
  orders = stored.orders + excluded.orders,
  sales_cents = stored.sales_cents + excluded.sales_cents;

select day_id as "dayId", area_id as "areaId", json_build_array(bucket, orders, sales_cents) as json
from hourly_counters
where event_id = $;

delete from hourly_counters where event_id = $ and orders = 0 and sales_cents = 0;

insert into item_counters as stored (event_id, day_id, area_id, block, orders, quantity, gross_cents, refunded_quantity, refunded_cents)
select event_id, day_id, area_id, block,
  orders[(number - 1) * 16 + 1 : number * 16],
  quantity[(number - 1) * 16 + 1 : number * 16],
  gross_cents[(number - 1) * 16 + 1 : number * 16],
  refunded_quantity[(number - 1) * 16 + 1 : number * 16],
  refunded_cents[(number - 1) * 16 + 1 : number * 16]
from
  (select $::bigint[] as orders, $::bigint[] as quantity, $::bigint[] as gross_cents, $::bigint[] as refunded_quantity, $::bigint[] as refunded_cents) as all_blocks,
  unnest($::uuid[], $::int[], $::int[], $::int[]) with ordinality as place (event_id, day_id, area_id, block, number)
on conflict (event_id, day_id, area_id, block) do update set
  orders = array[stored.orders[1] + excluded.orders[1], stored.orders[2] + excluded.orders[2], stored.orders[3] + excluded.orders[3], stored.orders[4] + excluded.orders[4], stored.orders[5] + excluded.orders[5], stored.orders[6] + excluded.orders[6], stored.orders[7] + excluded.orders[7], stored.orders[8] + excluded.orders[8], stored.orders[9] + excluded.orders[9], stored.orders[10] + excluded.orders[10], stored.orders[11] + excluded.orders[11], stored.orders[12] + excluded.orders[12], stored.orders[13] + excluded.orders[13], stored.orders[14] + excluded.orders[14], stored.orders[15] + excluded.orders[15], stored.orders[16] + excluded.orders[16]],
  quantity = array[stored.quantity[1] + excluded.quantity[1], stored.quantity[2] + excluded.quantity[2], stored.quantity[3] + excluded.quantity[3], stored.quantity[4] + excluded.quantity[4], stored.quantity[5] + excluded.quantity[5], stored.quantity[6] + excluded.quantity[6], stored.quantity[7] + excluded.quantity[7], stored.quantity[8] + excluded.quantity[8], stored.quantity[9] + excluded.quantity[9], stored.quantity[10] + excluded.quantity[10], stored.quantity[11] + excluded.quantity[11], stored.quantity[12] + excluded.quantity[12], stored.quantity[13] + excluded.quantity[13], stored.quantity[14] + excluded.quantity[14], stored.quantity[15] + excluded.quantity[15], stored.quantity[16] + excluded.quantity[16]],
  gross_cents = array[stored.gross_cents[1] + excluded.gross_cents[1], stored.gross_cents[2] + excluded.gross_cents[2], stored.gross_cents[3] + excluded.gross_cents[3], stored.gross_cents[4] + excluded.gross_cents[4], stored.gross_cents[5] + excluded.gross_cents[5], stored.gross_cents[6] + excluded.gross_cents[6], stored.gross_cents[7] + excluded.gross_cents[7], stored.gross_cents[8] + excluded.gross_cents[8], stored.gross_cents[9] + excluded.gross_cents[9], stored.gross_cents[10] + excluded.gross_cents[10], stored.gross_cents[11] + excluded.gross_cents[11], stored.gross_cents[12] + excluded.gross_cents[12], stored.gross_cents[13] + excluded.gross_cents[13], stored.gross_cents[14] + excluded.gross_cents[14], stored.gross_cents[15] + excluded.gross_cents[15], stored.gross_cents[16] + excluded.gross_cents[16]],
  refunded_quantity = array[stored.refunded_quantity[1] + excluded.refunded_quantity[1], stored.refunded_quantity[2] + excluded.refunded_quantity[2], stored.refunded_quantity[3] + excluded.refunded_quantity[3], stored.refunded_quantity[4] + excluded.refunded_quantity[4], stored.refunded_quantity[5] + excluded.refunded_quantity[5], stored.refunded_quantity[6] + excluded.refunded_quantity[6], stored.refunded_quantity[7] + excluded.refunded_quantity[7], stored.refunded_quantity[8] + excluded.refunded_quantity[8], stored.refunded_quantity[9] + excluded.refunded_quantity[9], stored.refunded_quantity[10] + excluded.refunded_quantity[10], stored.refunded_quantity[11] + excluded.refunded_quantity[11], stored.refunded_quantity[12] + excluded.refunded_quantity[12], stored.refunded_quantity[13] + excluded.refunded_quantity[13], stored.refunded_quantity[14] + excluded.refunded_quantity[14], stored.refunded_quantity[15] + excluded.refunded_quantity[15], stored.refunded_quantity[16] + excluded.refunded_quantity[16]],
  refunded_cents = array[stored.refunded_cents[1] + excluded.refunded_cents[1], stored.refunded_cents[2] + excluded.refunded_cents[2], stored.refunded_cents[3] + excluded.refunded_cents[3], stored.refunded_cents[4] + excluded.refunded_cents[4], stored.refunded_cents[5] + excluded.refunded_cents[5], stored.refunded_cents[6] + excluded.refunded_cents[6], stored.refunded_cents[7] + excluded.refunded_cents[7], stored.refunded_cents[8] + excluded.refunded_cents[8], stored.refunded_cents[9] + excluded.refunded_cents[9], stored.refunded_cents[10] + excluded.refunded_cents[10], stored.refunded_cents[11] + excluded.refunded_cents[11], stored.refunded_cents[12] + excluded.refunded_cents[12], stored.refunded_cents[13] + excluded.refunded_cents[13], stored.refunded_cents[14] + excluded.refunded_cents[14], stored.refunded_cents[15] + excluded.refunded_cents[15], stored.refunded_cents[16] + excluded.refunded_cents[16]];

insert into item_counters as stored (event_id, day_id, area_id, block, orders, quantity, gross_cents, refunded_quantity, refunded_cents)
select event_id, day_id, area_id, block,
  orders[(number - 1) * 16 + 1 : number * 16],
  quantity[(number - 1) * 16 + 1 : number * 16],
  gross_cents[(number - 1) * 16 + 1 : number * 16],
  array_fill(0::bigint, array[16]),
  array_fill(0::bigint, array[16])
from
  (select $::bigint[] as orders, $::bigint[] as quantity, $::bigint[] as gross_cents) as all_blocks,
  unnest($::uuid[], $::int[], $::int[], $::int[]) with ordinality as place (event_id, day_id, area_id, block, number)
on conflict (event_id, day_id, area_id, block) do update set
  orders = array[stored.orders[1] + excluded.orders[1], stored.orders[2] + excluded.orders[2], stored.orders[3] + excluded.orders[3], stored.orders[4] + excluded.orders[4], stored.orders[5] + excluded.orders[5], stored.orders[6] + excluded.orders[6], stored.orders[7] + excluded.orders[7], stored.orders[8] + excluded.orders[8], stored.orders[9] + excluded.orders[9], stored.orders[10] + excluded.orders[10], stored.orders[11] + excluded.orders[11], stored.orders[12] + excluded.orders[12], stored.orders[13] + excluded.orders[13], stored.orders[14] + excluded.orders[14], stored.orders[15] + excluded.orders[15], stored.orders[16] + excluded.orders[16]],
  quantity = array[stored.quantity[1] + excluded.quantity[1], stored.quantity[2] + excluded.quantity[2], stored.quantity[3] + excluded.quantity[3], stored.quantity[4] + excluded.quantity[4], stored.quantity[5] + excluded.quantity[5], stored.quantity[6] + excluded.quantity[6], stored.quantity[7] + excluded.quantity[7], stored.quantity[8] + excluded.quantity[8], stored.quantity[9] + excluded.quantity[9], stored.quantity[10] + excluded.quantity[10], stored.quantity[11] + excluded.quantity[11], stored.quantity[12] + excluded.quantity[12], stored.quantity[13] + excluded.quantity[13], stored.quantity[14] + excluded.quantity[14], stored.quantity[15] + excluded.quantity[15], stored.quantity[16] + excluded.quantity[16]],
  gross_cents = array[stored.gross_cents[1] + excluded.gross_cents[1], stored.gross_cents[2] + excluded.gross_cents[2], stored.gross_cents[3] + excluded.gross_cents[3], stored.gross_cents[4] + excluded.gross_cents[4], stored.gross_cents[5] + excluded.gross_cents[5], stored.gross_cents[6] + excluded.gross_cents[6], stored.gross_cents[7] + excluded.gross_cents[7], stored.gross_cents[8] + excluded.gross_cents[8], stored.gross_cents[9] + excluded.gross_cents[9], stored.gross_cents[10] + excluded.gross_cents[10], stored.gross_cents[11] + excluded.gross_cents[11], stored.gross_cents[12] + excluded.gross_cents[12], stored.gross_cents[13] + excluded.gross_cents[13], stored.gross_cents[14] + excluded.gross_cents[14], stored.gross_cents[15] + excluded.gross_cents[15], stored.gross_cents[16] + excluded.gross_cents[16]];

select day_id as "dayId", area_id as "areaId", json_build_array(block, orders, quantity, gross_cents, refunded_quantity, refunded_cents) as json
from item_counters
where event_id = $;

delete from item_counters where event_id = $ and 0 = all(orders) and 0 = all(quantity) and 0 = all(gross_cents) and 0 = all(refunded_quantity) and 0 = all(refunded_cents);

insert into payment_counters as stored (event_id, day_id, area_id, payment_method, orders, refunded_orders, total_cents, sales_cents)
select * from unnest($::uuid[], $::int[], $::int[], $::text[], $::bigint[], $::bigint[], $::bigint[], $::bigint[])
on conflict (event_id, day_id, area_id, payment_method) do update set
  orders = stored.orders + excluded.orders,
  refunded_orders = stored.refunded_orders + excluded.refunded_orders,
  total_cents = stored.total_cents + excluded.total_cents,
  sales_cents = stored.sales_cents + excluded.sales_cents;

select day_id as "dayId", area_id as "areaId", json_build_array(payment_method, orders, refunded_orders, total_cents, sales_cents) as json
from payment_counters
where event_id = $;

delete from payment_counters where event_id = $ and orders = 0 and refunded_orders = 0 and total_cents = 0 and sales_cents = 0;

insert into order_buckets as stored (event_id, order_bucket, day_id, area_id, pre_order, pending, paid, preparing, ready_for_pickup, completed, cancelled)
select * from unnest($::uuid[], $::int[], $::int[], $::int[], $::int[], $::int[], $::int[], $::int[], $::int[], $::int[], $::int[])
on conflict (event_id, order_bucket, day_id, area_id) do update set
  pre_order = stored.pre_order + excluded.pre_order,
  pending = stored.pending + excluded.pending,
  paid = stored.paid + excluded.paid,
  preparing = stored.preparing + excluded.preparing,
  ready_for_pickup = stored.ready_for_pickup + excluded.ready_for_pickup,
  completed = stored.completed + excluded.completed,
  cancelled = stored.cancelled + excluded.cancelled;

select day_id as "dayId", area_id as "areaId", json_build_array(order_bucket, pre_order, pending, paid, preparing, ready_for_pickup, completed, cancelled) as json
from order_buckets
where event_id = $;

delete from order_buckets where event_id = $ and pre_order = 0 and pending = 0 and paid = 0 and preparing = 0 and ready_for_pickup = 0 and completed = 0 and cancelled = 0;

(
  select json_agg(json_build_array(0, pre_order, pending, paid, preparing, ready_for_pickup, completed, cancelled, sales_cents, items_sold)) from daily_counters
  where (event_id, day_id, area_id) = (asked.event_id, asked.day_id, asked.area_id));

(
  select json_agg(json_build_array(bucket, orders, sales_cents)) from hourly_counters
  where (event_id, day_id, area_id) = (asked.event_id, asked.day_id, asked.area_id));

(
  select json_agg(json_build_array(block, orders, quantity, gross_cents, refunded_quantity, refunded_cents)) from item_counters
  where (event_id, day_id, area_id) = (asked.event_id, asked.day_id, asked.area_id));

(
  select json_agg(json_build_array(payment_method, orders, refunded_orders, total_cents, sales_cents)) from payment_counters
  where (event_id, day_id, area_id) = (asked.event_id, asked.day_id, asked.area_id));

insert into orders (event_id, order_id, version, status, day_id, area_id, ordered_at, display_number, payment_method, paid_cents, total_cents, takeaway, table_number, lines)
select unnest($::uuid[]), unnest($::text[]), unnest($::bigint[]), unnest($::text[])::order_status, unnest($::int[]), unnest($::int[]), unnest($::bigint[]), unnest($::text[]), unnest($::text[]), unnest($::bigint[]), unnest($::bigint[]), unnest($::boolean[]), unnest($::text[]), unnest($::json[])
on conflict (event_id, order_id) do update set
  version = excluded.version, status = excluded.status, day_id = excluded.day_id, area_id = excluded.area_id, ordered_at = excluded.ordered_at, display_number = excluded.display_number, payment_method = excluded.payment_method, paid_cents = excluded.paid_cents, total_cents = excluded.total_cents, takeaway = excluded.takeaway, table_number = excluded.table_number, lines = excluded.lines;
