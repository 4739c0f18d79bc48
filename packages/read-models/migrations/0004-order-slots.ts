import { type Kysely, sql } from 'kysely'

/**
 * Creates the time buckets of the order list and fills them from the stored orders, which are locked against writes
 * meanwhile. Stop projectors of an older program first: they do not write these rows (`tally rebuild` adds what one
 * left out).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
create table order_slots (
  event_id uuid not null,
  slot integer not null,
  day_id integer not null,
  area_id integer not null,
  pre_order integer not null,
  pending integer not null,
  paid integer not null,
  preparing integer not null,
  ready_for_pickup integer not null,
  completed integer not null,
  cancelled integer not null,
  primary key (event_id, slot, day_id, area_id)
) with (fillfactor = 70);

lock table orders in share row exclusive mode;

insert into order_slots
select event_id, ordered_at / 300000 as slot, day_id, area_id,
  count(*) filter (where status = 'PreOrder'),
  count(*) filter (where status = 'Pending'),
  count(*) filter (where status = 'Paid'),
  count(*) filter (where status = 'Preparing'),
  count(*) filter (where status = 'ReadyForPickup'),
  count(*) filter (where status = 'Completed'),
  count(*) filter (where status = 'Cancelled')
from orders
where version > 0
group by event_id, slot, day_id, area_id
order by event_id, slot, day_id, area_id;
`.execute(db)
}
