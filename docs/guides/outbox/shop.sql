-- A small order database, as a shop might have it before it knows of Tally. Only the checks matter here: they are the
-- limits of docs/records.md, so that nothing is stored which Tally would reject.

create table organizations (
  id uuid primary key default gen_random_uuid(),
  name text not null check (length(name) between 1 and 200),
  status text not null check (status in ('Trial', 'ActiveDayPass', 'Inactive'))
);

create table events (
  id uuid primary key default gen_random_uuid(),
  organization_id uuid not null references organizations,
  name text not null check (length(name) between 1 and 200),
  starts_at timestamptz not null,
  time_zone text not null default 'UTC'
);

create table areas (
  event_id uuid not null references events,
  area_id int not null check (area_id > 0),
  name text not null check (length(name) between 1 and 200),
  primary key (event_id, area_id)
);

create table days (
  event_id uuid not null references events,
  day_id int not null check (day_id > 0),
  date date not null,
  opened_at timestamptz not null,
  closed_at timestamptz check (closed_at >= opened_at),
  primary key (event_id, day_id)
);
create unique index one_open_day on days (event_id) where closed_at is null;

create table menu_items (
  event_id uuid not null references events,
  menu_item_id int not null check (menu_item_id > 0),
  name text not null check (length(name) between 1 and 200),
  category text not null default '' check (length(category) <= 200),
  primary key (event_id, menu_item_id)
);

create table orders (
  id bigint generated always as identity primary key,
  event_id uuid not null references events,
  day_id int not null check (day_id > 0),
  area_id int not null check (area_id > 0),
  number text not null check (length(number) between 1 and 200),
  status text not null check (
    status in ('PreOrder', 'Pending', 'Paid', 'Preparing', 'ReadyForPickup', 'Completed', 'Cancelled')
  ),
  ordered_at timestamptz not null default now(),
  payment_method text not null default '' check (length(payment_method) <= 200),
  amount_paid numeric(10, 2) not null default 0,
  total numeric(10, 2) not null,
  is_takeaway boolean not null default false,
  table_number text check (length(table_number) <= 50),
  customer_name text,
  customer_email text
);

-- A line that gives back (a cup, a discount, a cancelled portion) has a quantity or a price below zero.
create table lines (
  order_id bigint not null references orders,
  position int not null,
  menu_item_id int not null check (menu_item_id > 0),
  item_name text not null check (length(item_name) between 1 and 200),
  quantity int not null check (quantity between -100000 and 100000 and quantity <> 0),
  unit_price numeric(10, 2) not null,
  -- What a waiter types here may be a guest's name or an allergy.
  note text,
  primary key (order_id, position)
);

create table refunds (
  id bigint generated always as identity primary key,
  order_id bigint not null references orders,
  refunded_at timestamptz not null default now(),
  amount numeric(10, 2) not null check (amount >= 0),
  reason text
);

-- What is taken off the items. A refund of money only has no lines, and lines need not add up to what was paid back.
create table refund_lines (
  refund_id bigint not null references refunds,
  position int not null,
  menu_item_id int not null check (menu_item_id > 0),
  quantity int not null check (quantity between 1 and 100000),
  amount numeric(10, 2) not null check (amount >= 0),
  primary key (refund_id, position)
);
