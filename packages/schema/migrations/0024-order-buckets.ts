import { type Kysely, sql } from 'kysely'

/**
 * Calls the counter of order buckets what the code calls it. Processes of the version before read and write the table
 * through a view of its former name, with the rights that their roles had on the table (not through PUBLIC).
 *
 * Cost: none that grows with the data; waits for running batches and deep pages, and new ones wait for it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table order_slots rename to order_buckets;
alter table order_buckets rename column slot to order_bucket;
alter index order_slots_pkey rename to order_buckets_pkey;
create view order_slots as
select event_id, order_bucket as slot, day_id, area_id, pre_order, pending, paid, preparing, ready_for_pickup, completed, cancelled
from order_buckets;
do $$ declare given record; begin
  for given in select grantee, string_agg(privilege_type, ', ') as rights from information_schema.role_table_grants
    where table_schema = current_schema() and table_name = 'order_buckets' group by grantee
  loop execute format('grant %s on order_slots to %I', given.rights, given.grantee); end loop;
end $$;
`.execute(db)
}
