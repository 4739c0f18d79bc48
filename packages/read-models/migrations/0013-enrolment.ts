import { type Kysely, sql } from 'kysely'

/**
 * Second factors: until when an administrator may set one up if it is required, and links that also remove one. What
 * is being set up begins again, because secrets are encrypted now; `tally admin` encrypts those in use when it starts.
 *
 * Cost: none that grows with the data. An administration area of an earlier version must not run on: it would take the
 * encrypted secrets for plain ones.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table administrators add column enrol_until timestamptz;
alter table administrators alter column enrol_until set default now() + interval '24 hours';
update administrators set totp_candidate = null where totp_candidate is not null;

alter table one_time_tokens add column removes_second_factor boolean not null default false;
`.execute(db)
}
