import type { EventId } from '@tally/contract'
import type { Database, Tx } from '@tally/platform'
import { type Kysely, type SqlBool, sql } from 'kysely'
import { shadowSchema } from './shadow.ts'

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
