import { type Kysely, sql } from 'kysely'

/**
 * Stores the counters of sixteen menu items in one row instead of one row each: most of what a batch cost Postgres was
 * finding and writing thousands of rows. An older projector that still runs writes nothing from here on: its statement
 * names a column that is gone.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
lock table item_counters in access exclusive mode;

-- Indexes start at 1, and no number is null: null plus a number is null.
create domain sixteen_counts as bigint[] not null
check (array_lower(value, 1) = 1 and cardinality(value) = 16 and array_position(value, null) is null);

create table item_blocks (
  event_id uuid not null,
  day_id integer not null,
  area_id integer not null,
  block integer not null,
  orders sixteen_counts,
  quantity sixteen_counts,
  gross_cents sixteen_counts,
  refunded_quantity sixteen_counts,
  refunded_cents sixteen_counts,
  constraint item_blocks_pkey primary key (event_id, day_id, area_id, block)
) with (fillfactor = 70);

insert into item_blocks
select blocks.event_id, blocks.day_id, blocks.area_id, block,
  array_agg(coalesce(item.orders, 0) order by place),
  array_agg(coalesce(item.quantity, 0) order by place),
  array_agg(coalesce(item.gross_cents, 0) order by place),
  array_agg(coalesce(item.refunded_quantity, 0) order by place),
  array_agg(coalesce(item.refunded_cents, 0) order by place)
from (select distinct event_id, day_id, area_id, menu_item_id / 16 as block from item_counters) as blocks
cross join generate_series(0, 15) as place
left join item_counters as item
  on item.event_id = blocks.event_id and item.day_id = blocks.day_id and item.area_id = blocks.area_id
  and item.menu_item_id = block * 16 + place
group by blocks.event_id, blocks.day_id, blocks.area_id, block
order by blocks.event_id, blocks.day_id, blocks.area_id, block;

drop table item_counters;
alter table item_blocks rename to item_counters;
alter index item_blocks_pkey rename to item_counters_pkey;
`.execute(db)
}
