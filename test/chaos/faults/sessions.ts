import { inside, topicNames } from '@tally/kafka'
import type { Random } from '@tally/testkit/random'
import { newFestival } from '@tally/testkit/records/festival'
import { sql } from 'kysely'
import { outgoingOf } from '../load/feeding.ts'
import { type Fault, type FaultTools, sleepBetween } from '../run/fault.ts'
import { partitions, prefix, type System, shardOf } from '../system/system.ts'

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

/** Orders of a few events in a transaction that stays open under load; at its end all of them count, or none. */
async function transact(
  { kafka }: System,
  random: Random,
  { feeding, eventIds }: FaultTools,
  end: 'commit' | 'abort',
): Promise<void> {
  const producer = inside(kafka).kafka.producer({
    transactionalId: random.uuid(),
    idempotent: true,
    maxInFlightRequests: 1,
  })
  await producer.connect()
  try {
    const chosen = random.shuffled(eventIds()).slice(0, random.whole(1, 3))
    const records = chosen.flatMap(eventId => {
      const festival = newFestival({ eventId, organizationId: feeding.book.organizationOf(eventId) })
      return Array.from({ length: random.whole(1, 5) }, () => festival.order())
    })
    const transaction = await producer.transaction()
    for (const { topic, key, value } of records.map(outgoingOf))
      await transaction.send({ topic, messages: [{ key, value }] })
    await sleepBetween(random, 1_500, 4_000)
    if (end === 'abort') return await transaction.abort()
    const acknowledge = feeding.note(records)
    await transaction.commit()
    acknowledge()
  } finally {
    await producer.disconnect()
  }
}

const locked = (what: string, lock: Lock): Fault => ({
  name: `${what} locked by another session`,
  allows: 'everything',
  run: (system, random, tools) => holdLock(system, random, tools, lock),
})

/** What other sessions and producers hold open. */
export const sessionFaults: Fault[] = [
  locked(
    'an offset row',
    shard => sql`
select from shard_offsets
where topic = any(${Object.values(topicNames(prefix))}) and partition = ${shard}
for update`,
  ),
  locked(
    'heads of the events of a shard',
    shard => sql`
select from event_heads
where shard = ${shard}
order by event_id
for update`,
  ),
  ...(['commit', 'abort'] as const).map(
    (end): Fault => ({
      name: `a transaction of another producer stays open, then ${end}s`,
      allows: 'everything',
      run: (system, random, tools) => transact(system, random, tools, end),
    }),
  ),
]
