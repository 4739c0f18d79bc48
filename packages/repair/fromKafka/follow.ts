import { setTimeout as sleep } from 'node:timers/promises'
import type { RecordType } from '@tally/contract'
import {
  type Consumer,
  consumeBatches,
  endOffsets,
  type KafkaConnection,
  partitionKey,
  type RecordBatch,
  topicNames,
  UndecodableBatchError,
} from '@tally/kafka'
import { projectPieces } from '@tally/projection'
import { ensureOffsets, readOffsets } from '@tally/read-models'
import { isTransient } from '@tally/runtime'
import type { Postgres } from '@tally/storage'
import { sql } from 'kysely'
import { NotYetError } from './notYet.ts'
import { shadowSchema } from './shadow.ts'

export type Follower = {
  /** How many records the shadow has yet to read to be where the live tables are. */
  behind(): number
  /** How many it has read of all that it has to. */
  position(): { done: number; all: number }
  /** Sets where these partitions must be read up to, and no further; then waits until they are. */
  reach(targets: Map<string, number>, timeoutMs: number): Promise<void>
  /** From here on the targets of all partitions that are not held by `reach` are those of the live tables again. */
  release(): void
  /** Partitions that are switched: what still comes of them is the live projector's alone. */
  forget(partitions: string[]): void
  /** Where Kafka's log of each partition ends now, by partition key. */
  ends(): Promise<Map<string, number>>
  /** Rejects when reading can never heal. */
  failed: Promise<never>
  stop(): Promise<void>
}

type FollowDeps = { kafka: KafkaConnection; db: Postgres; shadow: Postgres }

const refreshMs = 300
/** A batch at its target rests so long before it is read again; short, because other partitions wait for it. */
const restMs = 100

/**
 * Reads all topics from the start, or from where an ended run stood, and applies them to the shadow with the
 * projector's own code. The shadow never passes the live tables, so that the two can meet at one offset. Dead
 * letters are not sent: the live projector has sent or will send them.
 */
export async function follow(
  { kafka, db, shadow }: FollowDeps,
  { topicPrefix, groupId, skip }: { topicPrefix: string; groupId: string; skip: string[] },
): Promise<Follower> {
  const { organizations, events, orders, refunds } = topicNames(topicPrefix)
  const types = new Map<string, RecordType>([
    [organizations, 'organizations'],
    [events, 'events'],
    [orders, 'orders'],
    [refunds, 'refunds'],
  ])
  const topics = [...types.keys()]
  const targets = new Map<string, number>()
  const applied = new Map<string, number>()
  const held = new Set<string>()
  const forgotten = new Set<string>(skip)
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => undefined)
  let stopped = false
  let consumer: Consumer | undefined

  const partitions = await ensurePartitions({ kafka, db, shadow }, topics)
  for (const { topic, partition, nextOffset } of await readOffsets(shadow, topics))
    applied.set(partitionKey({ topic, partition }), nextOffset)

  const readEnds = async () => {
    const found = [...(await endOffsets(kafka, topics))]
    return new Map(
      found.flatMap(([topic, offsets]) =>
        [...offsets].map(([partition, { end }]) => [partitionKey({ topic, partition }), end] as const),
      ),
    )
  }
  const refresh = async () => {
    // Postgres first: what is applied lies below an end that is asked for later, or the topic was created again.
    const stored = await readOffsets(db, topics)
    const ends = await readEnds()
    for (const { topic, partition, nextOffset } of stored) {
      const key = partitionKey({ topic, partition })
      if (!held.has(key)) targets.set(key, Math.min(nextOffset, ends.get(key) ?? 0))
    }
  }
  await refresh()
  /** A batch that cannot be decoded stays in its topic: if the live tables have skipped it, the shadow skips it too. */
  const passSkipped = async () => {
    for (const { topic, partition, error } of consumer?.state().batchErrors ?? []) {
      const key = partitionKey({ topic, partition })
      if (!(error instanceof UndecodableBatchError) || (targets.get(key) ?? 0) < error.to) continue
      await passTo(shadow, { topic, partition }, error.to)
      applied.set(key, error.to)
      consumer?.seek(topic, partition, error.to)
    }
  }
  const refreshing = (async () => {
    while (!stopped) {
      await sleep(refreshMs)
      const refreshed = stopped ? undefined : refresh().then(passSkipped)
      await refreshed?.catch(error => isTransient(error) || failure.reject(error))
    }
  })()

  const noDeadLetters = { send: async () => {}, committed: () => {} }
  const onBatch = async (batch: RecordBatch): Promise<number> => {
    const key = partitionKey(batch)
    if (forgotten.has(key)) return batch.next
    const target = targets.get(key) ?? 0
    if (batch.from >= target) {
      await sleep(restMs)
      return batch.from
    }
    try {
      await noteShards(shadow, batch)
      const next = await projectPieces(
        { db: shadow, deadLetters: noDeadLetters },
        types.get(batch.topic) as RecordType,
        cutAt(target, batch),
        () => {},
      )
      applied.set(key, next)
      return next
    } catch (error) {
      if (!isTransient(error)) failure.reject(error)
      throw error
    }
  }
  const reading = await consumeBatches(kafka, {
    groupId,
    topics,
    concurrency: 4,
    onBatch,
    async onAssigned(assignment) {
      const starts = new Map<string, Map<number, number>>()
      for (const { topic, partition, nextOffset } of await readOffsets(shadow, topics)) {
        if (!assignment.get(topic)?.includes(partition)) continue
        starts.set(topic, (starts.get(topic) ?? new Map()).set(partition, nextOffset))
      }
      return starts
    },
    onCrash: failure.reject,
  })
  consumer = reading

  const counted = () => partitions.filter(key => !forgotten.has(key))
  const left = (key: string) => Math.max(0, (targets.get(key) ?? 0) - (applied.get(key) ?? 0))
  return {
    behind: () => counted().reduce((sum, key) => sum + left(key), 0),
    position: () => {
      const done = partitions.reduce((sum, key) => sum + (applied.get(key) ?? 0), 0)
      return { done, all: done + counted().reduce((sum, key) => sum + left(key), 0) }
    },
    async reach(wanted, timeoutMs) {
      for (const [key, offset] of wanted) {
        held.add(key)
        targets.set(key, offset)
      }
      for (const end = performance.now() + timeoutMs; [...wanted.keys()].some(key => left(key) > 0); ) {
        if (performance.now() > end) throw new NotYetError('Kafka did not bring the last records in time')
        await Promise.race([sleep(10), failure.promise])
      }
    },
    release: () => held.clear(),
    forget(keys) {
      for (const key of keys) forgotten.add(key)
    },
    ends: readEnds,
    failed: failure.promise,
    async stop() {
      stopped = true
      await reading.stop()
      await refreshing
    },
  }
}

/** Makes the rows of all partitions, live and shadow; refuses where a topic has lost its first records. */
async function ensurePartitions({ kafka, db, shadow }: FollowDeps, topics: string[]): Promise<string[]> {
  const keys: string[] = []
  for (const [topic, offsets] of await endOffsets(kafka, topics)) {
    const gone = [...offsets].find(([, { start }]) => start > 0)
    if (gone !== undefined) {
      const [partition, { start }] = gone
      throw new Error(
        `${topic}-${partition} begins at offset ${start}, its first records are gone: what they said would be lost. ` +
          'Run `tally rebuild` without --from-kafka, which counts from the orders and refunds in Postgres.',
      )
    }
    const partitions = [...offsets.keys()].sort((one, other) => one - other)
    await ensureOffsets(db, topic, partitions)
    await ensureOffsets(shadow, topic, partitions)
    keys.push(...partitions.map(partition => partitionKey({ topic, partition })))
  }
  return keys
}

async function passTo(
  shadow: Postgres,
  { topic, partition }: { topic: string; partition: number },
  next: number,
): Promise<void> {
  await shadow
    .updateTable('shard_offsets')
    .set({ next_offset: next })
    .where('topic', '=', topic)
    .where('partition', '=', partition)
    .where('next_offset', '<', next)
    .execute()
}

function cutAt(target: number, batch: RecordBatch): RecordBatch {
  if (batch.next <= target) return batch
  return { ...batch, next: target, records: batch.records.filter(({ offset }) => offset < target) }
}

const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Remembers through which partitions records of an event came: where partitions were added once, an event has
 * records in two, and these must be switched together. Before the batch is applied: one too many does no harm.
 */
async function noteShards(shadow: Postgres, { topic, partition, records }: RecordBatch): Promise<void> {
  if (topic.endsWith('.organizations')) return
  const ids = [...new Set(records.map(({ key }) => String(key)))].filter(key => isUuid.test(key)).sort()
  if (ids.length === 0) return
  await sql`
insert into ${sql.id(shadowSchema, 'event_shards')} (event_id, shard)
select id, ${partition} from unnest(${ids}::uuid[]) as id
on conflict do nothing`.execute(shadow)
}
