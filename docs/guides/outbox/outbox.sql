-- What the order database needs for Tally: versions, the records as views, an outbox that triggers write in the same
-- transaction as the change, and a role that can read nothing but the outbox. Run it once, as a superuser or as the
-- owner of the tables who may create roles for replication, in one transaction (psql --single-transaction); then
-- backfill.sql sends what is already there.

-- Versions. The row lock that an update takes makes changes of one order wait for each other, so that a higher version
-- is always the later state. greatest() lets you raise versions by hand (after a restore, see README.md).

alter table organizations add version bigint not null default 1 check (version between 1 and 9007199254740991);
alter table events add version bigint not null default 1 check (version between 1 and 9007199254740991);
alter table orders add version bigint not null default 1 check (version between 1 and 9007199254740991);
alter table refunds add version bigint not null default 1 check (version between 1 and 9007199254740991);

create function raise_version() returns trigger language plpgsql as $$
begin
  new.version := greatest(new.version, old.version + 1);
  return new;
end $$;

create trigger version before update on organizations for each row execute function raise_version();
create trigger version before update on events for each row execute function raise_version();
create trigger version before update on orders for each row execute function raise_version();
create trigger version before update on refunds for each row execute function raise_version();

-- A changed line changes its order, each time: what the outbox has of this transaction may have been written already
-- (`set constraints all immediate`), and what follows must not have the same version. A line that is moved changes both
-- orders.
create function change_order() returns trigger language plpgsql as $$
begin
  update orders set version = version + 1 where id in (old.order_id, new.order_id);
  return null;
end $$;

create function change_refund() returns trigger language plpgsql as $$
begin
  update refunds set version = version + 1 where id in (old.refund_id, new.refund_id);
  return null;
end $$;

create function change_event() returns trigger language plpgsql as $$
begin
  update events set version = version + 1 where id in (old.event_id, new.event_id);
  return null;
end $$;

create trigger change_order after insert or update or delete on lines
  for each row execute function change_order();
create trigger change_refund after insert or update or delete on refund_lines
  for each row execute function change_refund();
create trigger change_event after insert or update or delete on areas
  for each row execute function change_event();
create trigger change_event after insert or update or delete on days
  for each row execute function change_event();
create trigger change_event after insert or update or delete on menu_items
  for each row execute function change_event();

-- What Tally could never take back: it has no deletion, and rejects an event that changes organization or a refund that
-- changes order.
create function refuse() returns trigger language plpgsql as $$
begin
  raise exception '% of % would not reach Tally: %', lower(tg_op), tg_table_name, tg_argv[0];
end $$;

create trigger keep before delete on orders
  for each row execute function refuse('set the status to Cancelled');
create trigger keep before delete on refunds
  for each row execute function refuse('set the amount to 0 and delete the lines');
create trigger keep_id before update on organizations
  for each row when (old.id <> new.id) execute function refuse('make another organization');
create trigger keep_organization before update on events
  for each row when ((old.id, old.organization_id) <> (new.id, new.organization_id))
  execute function refuse('make another event');
create trigger keep_event before update on orders
  for each row when ((old.id, old.event_id) <> (new.id, new.event_id))
  execute function refuse('cancel it and make another order');
create trigger keep_order before update on refunds
  for each row when ((old.id, old.order_id) <> (new.id, new.order_id))
  execute function refuse('set the amount to 0, delete the lines and make another refund');

-- The records of docs/records.md. Only the columns that are named here leave the database: no customer, no note, no
-- reason. A numeric has its two decimals, a uuid lower case, a date its four digits.

-- The session's time zone must not matter: in Monrovia's, an instant of 1971 has an offset with seconds.
create function timestamp_text(timestamptz) returns text stable language sql
return to_char($1 at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');

create view organization_records as
select id, version, id as key, jsonb_build_object(
  'organizationId', id, 'version', version, 'name', name, 'status', status
) as payload
from organizations;

create view event_records as
select id, version, id as key, jsonb_build_object(
  'eventId', id,
  'organizationId', organization_id,
  'version', version,
  'name', name,
  'startDate', timestamp_text(starts_at),
  'timeZone', time_zone,
  'areas', coalesce((
    select jsonb_agg(jsonb_build_object('areaId', area_id, 'name', a.name) order by area_id)
    from areas a where event_id = events.id
  ), '[]'),
  'days', coalesce((
    select jsonb_agg(jsonb_build_object(
      'dayId', day_id, 'date', date, 'openedAt', timestamp_text(opened_at), 'closedAt', timestamp_text(closed_at)
    ) order by day_id)
    from days where event_id = events.id
  ), '[]'),
  'menuItems', coalesce((
    select jsonb_agg(jsonb_build_object(
      'menuItemId', menu_item_id, 'name', m.name, 'categoryName', category
    ) order by menu_item_id)
    from menu_items m where event_id = events.id
  ), '[]')
) as payload
from events;

create view order_records as
select id, version, event_id as key, jsonb_build_object(
  'eventId', event_id,
  'orderId', id::text,
  'version', version,
  'displayOrderNumber', number,
  'status', status,
  'areaId', area_id,
  'dayId', day_id,
  'orderDateTime', timestamp_text(ordered_at),
  'paymentMethod', payment_method,
  'amountPaid', amount_paid,
  'totalAmount', total,
  'isTakeaway', is_takeaway,
  'tableNumber', table_number,
  'items', coalesce((
    select jsonb_agg(jsonb_build_object(
      'menuItemId', menu_item_id, 'itemName', item_name, 'quantity', quantity, 'unitPrice', unit_price
    ) order by position)
    from lines where order_id = orders.id
  ), '[]')
) as payload
from orders;

create view refund_records as
select refunds.id, refunds.version, orders.event_id as key, jsonb_build_object(
  'eventId', orders.event_id,
  'refundId', refunds.id::text,
  'version', refunds.version,
  'orderId', order_id::text,
  'refundedAt', timestamp_text(refunded_at),
  'amount', amount,
  'lines', coalesce((
    select jsonb_agg(jsonb_build_object(
      'menuItemId', menu_item_id, 'quantity', quantity, 'amount', l.amount
    ) order by position)
    from refund_lines l where refund_id = refunds.id
  ), '[]')
) as payload
from refunds join orders on orders.id = order_id;

-- The outbox. Debezium reads the inserts from the write-ahead log, so a row may go at once: the table stays empty.

create function sum_of_lines(payload jsonb) returns numeric immutable language sql
return (
  select coalesce(sum(abs(coalesce((line->>'quantity')::numeric * (line->>'unitPrice')::numeric,
    (line->>'amount')::numeric))), 0)
  from jsonb_array_elements(coalesce(payload->'items', payload->'lines', '[]')) line
);

-- Limits over several rows are checked here, when the whole record is known. Changes of one order wait for each other,
-- so two sessions cannot exceed a limit together either.
create table outbox (
  id uuid primary key default gen_random_uuid(),
  aggregatetype text not null check (aggregatetype in ('organizations', 'events', 'orders', 'refunds')),
  aggregateid uuid not null,
  payload jsonb not null,
  constraint at_most_200_areas check (jsonb_array_length(coalesce(payload->'areas', '[]')) <= 200),
  constraint at_most_1000_days check (jsonb_array_length(coalesce(payload->'days', '[]')) <= 1000),
  constraint at_most_2000_menu_items check (jsonb_array_length(coalesce(payload->'menuItems', '[]')) <= 2000),
  constraint at_most_500_lines
    check (jsonb_array_length(coalesce(payload->'items', payload->'lines', '[]')) <= 500),
  constraint lines_add_up_to_at_most_99999999_99 check (sum_of_lines(payload) <= 99999999.99)
);

create function empty_outbox() returns trigger language plpgsql as $$
begin
  delete from outbox where id = new.id;
  return null;
end $$;

create trigger empty_outbox after insert on outbox for each row execute function empty_outbox();

-- Deferred: they run at the end of the transaction, when the order has all its lines. Of several changes in one
-- transaction only the last version is written; if constraints were made immediate in between, also an earlier one.
-- `security definer`: whoever writes orders needs no right to the outbox.

create function write_organization() returns trigger language plpgsql security definer
set search_path from current as $$
begin
  insert into outbox (aggregatetype, aggregateid, payload)
  select 'organizations', key, payload from organization_records where id = new.id and version = new.version;
  return null;
end $$;

create function write_event() returns trigger language plpgsql security definer
set search_path from current as $$
begin
  insert into outbox (aggregatetype, aggregateid, payload)
  select 'events', key, payload from event_records where id = new.id and version = new.version;
  return null;
end $$;

create function write_order() returns trigger language plpgsql security definer
set search_path from current as $$
begin
  insert into outbox (aggregatetype, aggregateid, payload)
  select 'orders', key, payload from order_records where id = new.id and version = new.version;
  return null;
end $$;

create function write_refund() returns trigger language plpgsql security definer
set search_path from current as $$
begin
  insert into outbox (aggregatetype, aggregateid, payload)
  select 'refunds', key, payload from refund_records where id = new.id and version = new.version;
  return null;
end $$;

create constraint trigger write_outbox after insert or update on organizations
  deferrable initially deferred for each row execute function write_organization();
create constraint trigger write_outbox after insert or update on events
  deferrable initially deferred for each row execute function write_event();
create constraint trigger write_outbox after insert or update on orders
  deferrable initially deferred for each row execute function write_order();
create constraint trigger write_outbox after insert or update on refunds
  deferrable initially deferred for each row execute function write_refund();

-- What Debezium connects as. It can read the outbox, and nothing else. Give it a password: \password tally_outbox

create publication tally_outbox for table outbox with (publish = 'insert');
create role tally_outbox with login replication;
grant select on outbox to tally_outbox;
