import { type Kysely, sql } from 'kysely'

/**
 * Stores the hourly counters by UTC time bucket instead of by local hour of the event's time zone: a changed time zone
 * then requires no recount, and an order always leaves the bucket that it was counted in, whatever the version of the
 * time zone data. The buckets are counted from the stored orders, sorted and grouped by Postgres within its `work_mem`;
 * meanwhile writes of orders wait. An older projector that still runs fails afterwards: its statement names a column
 * that is gone.
 *
 * Also replaces an index of the order list by one whose predicate names no column that updates change: with `version >
 * 0` every update wrote all indexes again (0 of 60,000 were HOT).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
lock table orders in share row exclusive mode;

create index orders_by_ordered_at on orders (event_id, ordered_at desc, order_id desc) where ordered_at is not null;

create table hour_buckets (
  event_id uuid not null,
  day_id integer not null,
  area_id integer not null,
  bucket bigint not null,
  orders bigint not null,
  sales_cents bigint not null,
  constraint hour_buckets_pkey primary key (event_id, day_id, area_id, bucket)
) with (fillfactor = 70);

-- From 2023 on a bucket is a quarter of an hour, from 1980 on the first minute of one or its rest. Area 0 is all areas.
insert into hour_buckets
select event_id, day_id, coalesce(area_id, 0), bucket, count(*), sum(sales_cents)
from (
  select event_id, day_id, area_id,
    case
      when ordered_at < 315532800000 then ordered_at - ordered_at % 30000
      when ordered_at >= 1672531200000 or ordered_at % 900000 < 60000 then ordered_at - ordered_at % 900000
      else ordered_at - ordered_at % 900000 + 60000
    end as bucket,
    total_cents - least(total_cents, refunded_cents) as sales_cents
  from orders
  where version > 0 and status in ('Paid', 'Preparing', 'ReadyForPickup', 'Completed')
) as confirmed
group by event_id, day_id, bucket, grouping sets ((area_id), ())
order by event_id, day_id, coalesce(area_id, 0), bucket;

-- Last, because readers wait from here on, and in the order in which others read these tables.
drop index orders_by_time;
alter index orders_by_ordered_at rename to orders_by_time;
drop table hourly_counters;
alter table hour_buckets rename to hourly_counters;
alter index hour_buckets_pkey rename to hourly_counters_pkey;
`.execute(db)
}
