import type { EventId } from '@tally/contract'
import type { Tx } from '@tally/storage'
import { sql } from 'kysely'
import { shadowSchema } from './shadow.ts'

/** The events of these shards that are in the topics, with their shard, without those that were removed. */
export async function madeEvents(tx: Tx, live: string, shards: number[]): Promise<Map<EventId, number>> {
  const { rows } = await sql<{ event_id: EventId; shard: number }>`
select event_id, shard
from ${sql.id(shadowSchema, 'event_heads')} as made
where shard = any(${shards}::int[])
  and not exists (select from ${sql.id(live, 'removed_events')} as removed where removed.event_id = made.event_id)
order by event_id`.execute(tx)
  return new Map(rows.map(({ event_id, shard }) => [event_id, shard]))
}

/** The live events of these shards that are not in the topics; a removed one stays marked as that. */
export async function surplusEvents(tx: Tx, live: string, shards: number[]): Promise<EventId[]> {
  const { rows } = await sql<{ event_id: EventId }>`
select event_id from ${sql.id(live, 'event_heads')} as kept
where shard = any(${shards}::int[]) and not is_removed
  and not exists (select from ${sql.id(shadowSchema, 'event_heads')} as made where made.event_id = kept.event_id)
order by event_id`.execute(tx)
  return rows.map(({ event_id }) => event_id)
}
