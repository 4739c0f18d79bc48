import { type Kysely, sql } from 'kysely'

/**
 * What a screen link shows, and of which area if of one. Links that exist go on as they were: with money.
 *
 * Cost: none that grows with the data. A process of the version before that still runs shows every link with money.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table screen_links
  add column shows text not null default 'money' check (shows in ('money', 'portions', 'kitchen')),
  add column area_id int;
`.execute(db)
}
