import type { EventId } from '@tally/contract'
import type { Database, Postgres } from '@tally/platform'
import { type Kysely, sql } from 'kysely'
import { allAreas } from '../counting/counters.ts'
import { statusTotal } from '../tables/statement.ts'

/** An event at a revision, which may have been measured at an earlier one or never. */
type UnmeasuredEvent = { eventId: EventId; revision: number }

/** At most `limit` events that have changed since they were measured. */
export async function readUnmeasured(db: Kysely<Database>, limit: number): Promise<UnmeasuredEvent[]> {
  const { rows } = await sql<UnmeasuredEvent>`
select event_id as "eventId", revision from event_heads where revision <> measured_revision limit ${limit}`.execute(
    db,
  )
  return rows
}

/**
 * Counts the orders and counters of these events, and stores that with the bytes that Redis needs for their
 * documents. The heads are locked only after everything is counted, because batches wait for them; one that a batch
 * has locked is left out, and measured the next time.
 */
export async function storeSizes(
  db: Postgres,
  measured: (UnmeasuredEvent & { redisBytes: number })[],
): Promise<void> {
  const ids = measured.map(({ eventId }) => eventId)
  const { rows: counted } = await sql<{ count: number }>`
select ((
  select count(*) + coalesce(sum(${statusTotal}) filter (where area_id = ${allAreas}::int), 0)
  from daily_counters as counter where counter.event_id = asked.event_id
)
+ (select count(*) from hourly_counters as counter where counter.event_id = asked.event_id)
+ (select count(*) from item_counters as counter where counter.event_id = asked.event_id)
+ (select count(*) from payment_counters as counter where counter.event_id = asked.event_id))::bigint as count
from unnest(${ids}::uuid[]) with ordinality as asked (event_id, place)
order by place`.execute(db)
  await sql`
with measured as (
  select measured.* from unnest(
    ${ids}::uuid[],
    ${measured.map(({ revision }) => revision)}::bigint[],
    ${measured.map(({ redisBytes }) => redisBytes)}::bigint[],
    ${counted.map(({ count }) => count)}::bigint[]
  ) as measured (event_id, revision, redis_bytes, counted_rows)
  join event_heads using (event_id)
  order by event_id
  for no key update of event_heads skip locked
)
update event_heads as head
set measured_revision = measured.revision, redis_bytes = measured.redis_bytes, counted_rows = measured.counted_rows
from measured
where head.event_id = measured.event_id`.execute(db)
}

/** What an organization has in Postgres and Redis; `organizationId` is null for events whose record has not arrived. */
type OrganizationSize = { organizationId: string | null; rows: number; redisBytes: number }

/**
 * The largest organizations: at most `limit` that have this many rows or bytes at least. 10 bytes in Redis count as a
 * row, as in the thresholds of the alert. A removed event may have been measured before its rows were deleted.
 */
export async function readLargestOrganizations(
  db: Kysely<Database>,
  { rows, redisBytes, limit }: { rows: number; redisBytes: number; limit: number },
): Promise<OrganizationSize[]> {
  const { rows: found } = await sql<OrganizationSize>`
select event.organization_id as "organizationId", sum(head.counted_rows)::bigint as rows,
  sum(head.redis_bytes)::bigint as "redisBytes"
from event_heads as head left join events as event using (event_id)
where not head.is_removed
group by event.organization_id
having sum(head.counted_rows) >= ${rows} or sum(head.redis_bytes) >= ${redisBytes}
order by greatest(sum(head.redis_bytes) / 10, sum(head.counted_rows)) desc
limit ${limit}`.execute(db)
  return found
}
