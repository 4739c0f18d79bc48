import type { EventId } from '@tally/contract'
import type { TopicNames } from '@tally/kafka'
import type { Postgres, Tx } from '@tally/platform'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { shadowSchema } from './shadow.ts'

/** The keys of the records that Postgres keeps, by topic and table, which have the same names. */
const keysOf = {
  organizations: ['organization_id'],
  events: ['event_id'],
  orders: ['event_id', 'order_id'],
  refunds: ['event_id', 'refund_id'],
} as const
type Kind = keyof typeof keysOf

/** How many records Postgres has in a version that the topics no longer hold; none of 0. */
type Missing = { kind: Kind; count: number }

/** Counts the live organizations, and of some events all records, that the shadow has not, or in a lower version. */
export async function countMissing(tx: Tx, eventIds: EventId[]): Promise<Missing[]> {
  const ofThese = sql<SqlBool>`kept.event_id = any(${eventIds}::uuid[])`
  const missing = await countOf(tx, 'organizations', sql<SqlBool>`true`)
  for (const kind of ['events', 'orders', 'refunds'] as const)
    missing.push(...(await countOf(tx, kind, ofThese)))
  return missing
}

/** Version 0 is what other records name, and no record of its own. */
async function countOf(tx: Tx, table: Kind, ofThese: RawBuilder<SqlBool>): Promise<Missing[]> {
  const isSame = keysOf[table].map(column => sql`made.${sql.id(column)} = kept.${sql.id(column)}`)
  const { rows } = await sql<{ count: number }>`
select count(*)::int as count
from ${sql.id(table)} as kept
where ${ofThese} and version > 0 and not exists (
  select from ${sql.id(shadowSchema, table)} as made
  where ${sql.join(isSame, sql` and `)} and made.version >= kept.version
)`.execute(tx)
  return rows.filter(({ count }) => count > 0).map(({ count }) => ({ kind: table, count }))
}

/** Names what is missing: `50 orders (tally.orders), 1 refund (tally.refunds)`. */
export const describeMissing = (missing: Missing[], topics: TopicNames): string =>
  missing
    .map(({ kind, count }) => `${count} ${count === 1 ? singular[kind] : kind} (${topics[kind]})`)
    .join(', ')
const singular = { organizations: 'organization', events: 'event', orders: 'order', refunds: 'refund' }

/** The sentence with which a rebuild refuses to remove them. */
export function refusal(missing: Missing[], topics: TopicNames): string {
  return (
    `the topics no longer hold ${describeMissing(missing, topics)} that Postgres has, or their latest version: their records were deleted or ` +
    'compacted, a topic was created again, or this version rejects them (see `tally records check --from-kafka`). ' +
    'Nothing was changed. To keep them, run ' +
    '`tally rebuild` without --from-kafka; to remove them, run `tally rebuild --from-kafka --yes`.'
  )
}

/** The events that are in the topics, with their shard, without those that were removed. */
export async function madeEvents(db: Postgres): Promise<Map<EventId, number>> {
  const { rows } = await sql<{ event_id: EventId; shard: number }>`
select event_id, shard
from ${sql.id(shadowSchema, 'event_heads')} as made
where not exists (select from removed_events as removed where removed.event_id = made.event_id)
order by event_id`.execute(db)
  return new Map(rows.map(({ event_id, shard }) => [event_id, shard]))
}

/** The live events that are not in the topics; a removed one stays marked as that. */
export async function extraEvents(tx: Tx): Promise<EventId[]> {
  const { rows } = await sql<{ event_id: EventId }>`
select event_id from event_heads as kept
where not is_removed
  and not exists (select from ${sql.id(shadowSchema, 'event_heads')} as made where made.event_id = kept.event_id)
order by event_id`.execute(tx)
  return rows.map(({ event_id }) => event_id)
}
