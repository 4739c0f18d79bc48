import { type Kysely, sql } from 'kysely'

const columns = ['orders', 'quantity', 'gross_cents', 'refunded_quantity', 'refunded_cents']

/**
 * The counters of sixteen menu items in one row, where each had one of its own: most of what a batch cost Postgres was
 * finding and writing thousands of them. An older projector that still runs writes nothing from here on: its statement
 * names a column that is gone.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Sixteen numbers counted from 1, and none of them null: nothing else can be added to.
  const arrays = columns.map(
    name => `${name} bigint[] not null constraint item_counters_${name}_check
    check (array_lower(${name}, 1) = 1 and cardinality(${name}) = 16 and array_position(${name}, null) is null)`,
  )
  const filled = columns.map(name => {
    const items = Array.from({ length: 16 }, (_, item) => {
      return `coalesce(sum(${name}) filter (where menu_item_id % 16 = ${item}), 0)::bigint`
    })
    return `array[${items.join(', ')}]`
  })
  await sql`
lock table item_counters in access exclusive mode;

create table item_blocks (
  event_id uuid not null,
  day_id integer not null,
  area_id integer not null,
  block integer not null,
  ${sql.raw(arrays.join(',\n  '))},
  constraint item_blocks_pkey primary key (event_id, day_id, area_id, block)
) with (fillfactor = 70);

insert into item_blocks
select event_id, day_id, area_id, menu_item_id / 16, ${sql.raw(filled.join(',\n  '))}
from item_counters
group by event_id, day_id, area_id, menu_item_id / 16
order by event_id, day_id, area_id, menu_item_id / 16;

drop table item_counters;
alter table item_blocks rename to item_counters;
alter index item_blocks_pkey rename to item_counters_pkey;
`.execute(db)
}
