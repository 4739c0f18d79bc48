import type { EventId, OrganizationId } from '@tally/contract'
import { isQuiet } from '@tally/figures'
import type { Database, Postgres } from '@tally/platform'
import { type Kysely, sql } from 'kysely'

export type HeadRevision<Id> = { id: Id; revision: number }
export type ShardEvent = { shard: number; id: EventId }
export type EventRevision = ShardEvent & { revision: number; isQuiet: boolean }

/**
 * The revisions of these shards' events that follow the event `after`, in the order of shard and id; with whether each
 * has been quiet so long that its documents may have expired.
 */
export async function readEventRevisions(
  db: Kysely<Database>,
  {
    shards,
    after,
    limit,
    quietMs,
  }: { shards: number[]; after: ShardEvent | undefined; limit: number; quietMs: number },
): Promise<EventRevision[]> {
  const { rows } = await sql<EventRevision>`
select event_id as id, shard, revision, ${isQuiet(quietMs)} as "isQuiet"
from event_heads
where (shard, event_id) > (${after?.shard ?? -1}::int, ${after?.id ?? firstId}::uuid) and shard = any(${shards}::int[])
order by shard, event_id
limit ${limit}`.execute(db)
  return rows
}

/** The revisions of organizations with ids above `after`, by id. */
export async function readOrganizationRevisions(
  db: Kysely<Database>,
  { after, limit }: { after: OrganizationId | undefined; limit: number },
): Promise<HeadRevision<OrganizationId>[]> {
  const { rows } = await sql<HeadRevision<OrganizationId>>`
select organization_id as id, revision
from organizations
where ${after === undefined ? sql`true` : sql`organization_id > ${after}`}
order by organization_id
limit ${limit}`.execute(db)
  return rows
}

/** No id is lower: the nil UUID of RFC 9562, which a record may have. */
const firstId = '00000000-0000-0000-0000-000000000000'

const idOf = { event_heads: 'event_id', organizations: 'organization_id' } as const

/**
 * Stamps a new revision, above `published`, on heads that are still at `revision`: Redis has a revision of them that
 * Postgres has lost. First raises the sequence above it.
 */
export async function stampAbove(
  db: Postgres,
  table: keyof typeof idOf,
  heads: { id: string; revision: number; published: number }[],
): Promise<void> {
  const column = idOf[table]
  const highest = Math.max(...heads.map(({ published }) => published))
  await db.transaction().execute(async tx => {
    await sql`select open_epoch(0, ${highest})`.execute(tx)
    await sql`
with lost as (
  select head.${sql.id(column)} as id
  from ${sql.id(table)} as head
  join unnest(
    ${heads.map(({ id }) => id)}::uuid[],
    ${heads.map(({ revision }) => revision)}::bigint[]
  ) as known (id, revision) on known.id = head.${sql.id(column)} and known.revision = head.revision
  order by 1
  for update of head
)
update ${sql.id(table)} as head
set revision = nextval('revisions')
from lost
where head.${sql.id(column)} = lost.id`.execute(tx)
  })
}
