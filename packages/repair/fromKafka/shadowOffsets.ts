import { endOffsets, judgeLogs, type KafkaConnection, partitionKey, type TopicPartition } from '@tally/kafka'
import { ensureOffsets, noteTopicIds, readLogs, readOffsets } from '@tally/offsets'
import type { Postgres } from '@tally/platform'
import { shadowSchema } from './shadow.ts'

export type ShadowDeps = { kafka: KafkaConnection; db: Postgres; shadow: Postgres }

/** Inserts the offsets of all partitions, live and shadow; returns their keys. Throws if a topic lost first records. */
export async function ensurePartitions(
  { kafka, db, shadow }: ShadowDeps,
  topics: string[],
): Promise<string[]> {
  const keys: string[] = []
  for (const [topic, offsets] of await endOffsets(kafka, topics)) {
    const gone = [...offsets].find(([, { start }]) => start > 0)
    if (gone !== undefined) {
      const [partition, { start }] = gone
      throw new Error(
        `${topic}-${partition} begins at offset ${start}: its first records were deleted and would be missing. ` +
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

/** Stores in the shadow which logs it reads. */
export async function noteLogs({ kafka, shadow }: ShadowDeps, topics: string[]): Promise<void> {
  // Only their ids: isSameLog compares the records.
  const logs = await judgeLogs(kafka, await readLogs(shadow, topics), () => false)
  const known = logs.flatMap(({ topic, partition, topicId }) =>
    topicId === undefined ? [] : [{ topic, partition, topicId }],
  )
  await noteTopicIds(shadow, known)
}

/** Whether Kafka still holds, up to the shadow's offsets, what the shadow has read. */
export async function isSameLog(
  { kafka, db }: Pick<ShadowDeps, 'kafka' | 'db'>,
  topics: string[],
): Promise<boolean> {
  const stored = await readLogs(db.withSchema(shadowSchema), topics)
  const logs = await judgeLogs(kafka, stored)
  return logs.length === stored.length && logs.every(({ state }) => state === 'ok')
}

/**
 * Live offsets, by partition key, cut at the ends of Kafka's logs: what is applied lies below an end that is asked for
 * later, unless the topic was created again.
 */
export async function belowEnds(
  kafka: KafkaConnection,
  topics: string[],
  live: Map<string, number>,
): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  for (const [topic, offsets] of await endOffsets(kafka, topics))
    for (const [partition, { end }] of offsets) ends.set(partitionKey({ topic, partition }), end)
  return new Map([...live].map(([key, offset]) => [key, Math.min(offset, ends.get(key) ?? 0)]))
}

/** The offsets of the live tables, likewise: how far the shadow may read. */
export async function readLiveOffsets(
  { kafka, db }: ShadowDeps,
  topics: string[],
): Promise<Map<string, number>> {
  const stored = await readOffsets(db, topics)
  return belowEnds(kafka, topics, new Map(stored.map(offset => [partitionKey(offset), offset.nextOffset])))
}

/** The offsets at which the shadow continues the assigned partitions, by topic and partition. */
export async function readStarts(
  shadow: Postgres,
  assignment: Map<string, number[]>,
): Promise<Map<string, Map<number, number>>> {
  const starts = new Map<string, Map<number, number>>()
  for (const { topic, partition, nextOffset } of await readOffsets(shadow, [...assignment.keys()])) {
    if (!assignment.get(topic)?.includes(partition)) continue
    starts.set(topic, (starts.get(topic) ?? new Map()).set(partition, nextOffset))
  }
  return starts
}

/** Stores that the shadow has skipped everything below `next`. */
export async function storeSkipped(
  shadow: Postgres,
  { topic, partition }: TopicPartition,
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
