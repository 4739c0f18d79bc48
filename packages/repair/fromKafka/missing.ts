import type { EventId } from '@tally/contract'
import type { TopicNames } from '@tally/kafka'
import { type Database, inSnapshot, type Tx } from '@tally/platform'
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { shadowSchema } from './shadow.ts'
import { ofShards, type SwitchDeps, whileInSync } from './whileInSync.ts'

/** The keys of the records that Postgres keeps, by topic and table, which have the same names. */
const keysOf = {
  organizations: ['organization_id'],
  events: ['event_id'],
  orders: ['event_id', 'order_id'],
  refunds: ['event_id', 'refund_id'],
} as const
type Kind = keyof typeof keysOf

/** How many records of some partitions Postgres has in a version that the topics no longer hold; none of 0. */
export type Missing = { kind: Kind; partitions: number[]; count: number }

/**
 * Counts what the topics lack while both sides are at the same offsets, shard by shard. All shards, and the
 * organizations, are brought to them at once, because an event may have records in several. Their projectors wait only
 * until a snapshot is taken, not while it is counted.
 */
export function findMissing(deps: SwitchDeps, shards: number[]): Promise<Missing[]> {
  const { topics, partitions } = ofShards(deps, shards)
  const synced = {
    topics: [...topics, deps.topics.organizations],
    partitions: [...new Set([0, ...partitions])],
  }
  return inSnapshot(deps.db, async snapshot => {
    // It idles while the last records are read.
    await sql`set local idle_in_transaction_session_timeout = '2min'`.execute(snapshot)
    // The first query takes the snapshot.
    await whileInSync(deps, synced, () => sql`select 1`.execute(snapshot))
    const missing = await countMissingOrganizations(snapshot)
    for (const shard of shards) missing.push(...(await countMissing(snapshot, [shard])))
    return missing
  })
}

/** Counts the live events, orders and refunds of these shards that the shadow has not, or only in a lower version. */
export async function countMissing(tx: Tx, shards: number[]): Promise<Missing[]> {
  const eventIds = [...(await madeEvents(tx, shards)).keys(), ...(await extraEvents(tx, shards))]
  const ofThese = sql<SqlBool>`kept.event_id = any(${eventIds}::uuid[])`
  const missing: Missing[] = []
  for (const kind of ['events', 'orders', 'refunds'] as const)
    missing.push(...(await countOf(tx, { kind, partitions: shards }, ofThese)))
  return missing
}

export function countMissingOrganizations(tx: Tx): Promise<Missing[]> {
  return countOf(tx, { kind: 'organizations', partitions: [0] }, sql<SqlBool>`true`)
}

/** Version 0 is what other records name, and no record of its own. */
async function countOf(
  tx: Tx,
  of: { kind: Kind; partitions: number[] },
  ofThese: RawBuilder<SqlBool>,
): Promise<Missing[]> {
  const table = of.kind
  const isSame = keysOf[table].map(column => sql`made.${sql.id(column)} = kept.${sql.id(column)}`)
  const { rows } = await sql<{ count: number }>`
select count(*)::int as count
from ${sql.id(table)} as kept
where ${ofThese} and version > 0 and not exists (
  select from ${sql.id(shadowSchema, table)} as made
  where ${sql.join(isSame, sql` and `)} and made.version >= kept.version
)`.execute(tx)
  return rows.filter(({ count }) => count > 0).map(({ count }) => ({ ...of, count }))
}

/** Names what is missing: `50 orders (tally.orders, partition 1), 1 refund (tally.refunds, partition 1)`. */
export function describeMissing(missing: Missing[], topics: TopicNames): string {
  return missing
    .map(({ kind, partitions, count }) => {
      const what = count === 1 ? kind.slice(0, -1) : kind
      const where = `partition${partitions.length === 1 ? '' : 's'} ${partitions.join(' and ')}`
      return `${count} ${what} (${topics[kind]}, ${where})`
    })
    .join(', ')
}

/** The sentence with which a rebuild refuses to remove them. */
export function refusal(missing: Missing[], topics: TopicNames): string {
  return (
    `the topics no longer hold ${describeMissing(missing, topics)} that Postgres has, or their latest version: their records were deleted or ` +
    'compacted, a topic was created again, or this version rejects them (see `tally records check --from-kafka`). ' +
    'Nothing of these partitions was changed. To keep them, run ' +
    '`tally rebuild` without --from-kafka; to remove them, run `tally rebuild --from-kafka --yes`.'
  )
}

/** The events of these shards that are in the topics, with their shard, without those that were removed. */
export async function madeEvents(tx: Tx, shards: number[]): Promise<Map<EventId, number>> {
  const { rows } = await sql<{ event_id: EventId; shard: number }>`
select event_id, shard
from ${sql.id(shadowSchema, 'event_heads')} as made
where shard = any(${shards}::int[])
  and not exists (select from removed_events as removed where removed.event_id = made.event_id)
order by event_id`.execute(tx)
  return new Map(rows.map(({ event_id, shard }) => [event_id, shard]))
}

/** The live events of these shards that are not in the topics; a removed one stays marked as that. */
export async function extraEvents(tx: Tx, shards: number[]): Promise<EventId[]> {
  const { rows } = await sql<{ event_id: EventId }>`
select event_id from event_heads as kept
where shard = any(${shards}::int[]) and not is_removed
  and not exists (select from ${sql.id(shadowSchema, 'event_heads')} as made where made.event_id = kept.event_id)
order by event_id`.execute(tx)
  return rows.map(({ event_id }) => event_id)
}

/**
 * Whether an event of this shard was changed by records of another one, in the live tables or in the shadow. No batch
 * can do so while its head is locked.
 */
export async function isSplit(db: Kysely<Database>, shard: number): Promise<boolean> {
  const { rows } = await sql<{ found: SqlBool }>`
select exists (
  select from ${sql.id(shadowSchema, 'event_heads')} as made left join event_heads as kept using (event_id)
  where made.shard = ${shard} and (made.is_scattered or kept.is_scattered or kept.shard <> ${shard})
    and not exists (select from removed_events as removed where removed.event_id = made.event_id)
) as found`.execute(db)
  return rows[0]?.found === true
}
