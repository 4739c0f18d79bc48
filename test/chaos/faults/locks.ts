import { topicNames } from '@tally/kafka'
import { sql } from 'kysely'
import type { Random } from '../load/random.ts'
import { shardOf } from '../load/shardOf.ts'
import type { Fault, FaultTools } from '../run/fault.ts'
import { partitions, prefix, type System } from '../system/system.ts'

const goOnTimeoutMs = 5_000

type Lock = (shard: number) => ReturnType<typeof sql>

/** Another session locks rows of one shard until the events of all other shards are fresh nevertheless. */
async function holdLock(system: System, random: Random, tools: FaultTools, lock: Lock): Promise<void> {
  const othersOf = (shard: number) => tools.eventIds().filter(eventId => shardOf(eventId) !== shard)
  const shards = Array.from({ length: partitions }, (_, shard) => shard)
  const shard = random.of(shards.filter(shard => othersOf(shard).length > 0))
  const others = othersOf(shard)
  await system.db.transaction().execute(async tx => {
    await lock(shard).execute(tx)
    // Batches that began before the lock do not show that others go on.
    for (const round of [1, 2]) {
      const wanted = { sinceMs: Date.now() + 1_000, timeoutMs: 1_000 + goOnTimeoutMs, eventIds: others }
      if (await tools.isFresh(wanted)) continue
      tools.wrongs.add(
        'other partitions go on while a row is locked',
        `shard ${shard} of ${partitions}, not after ${goOnTimeoutMs} ms (${round})`,
      )
      return
    }
  })
}

export const lockFaults: Fault[] = [
  {
    name: 'an offset row locked by another session',
    allows: 'everything',
    run: (system, random, tools) =>
      holdLock(
        system,
        random,
        tools,
        shard => sql`
select from shard_offsets
where topic = any(${Object.values(topicNames(prefix))}) and partition = ${shard}
for update`,
      ),
  },
  {
    name: 'heads of the events of a shard locked by another session',
    allows: 'everything',
    run: (system, random, tools) =>
      holdLock(
        system,
        random,
        tools,
        shard => sql`
select from event_heads
where shard = ${shard}
order by event_id
for update`,
      ),
  },
]
