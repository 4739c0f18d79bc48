import { endOffsets, type KafkaConnection, partitionOf, readBack } from '@tally/kafka'
import { type DoctorFinding, fail, ok, skip } from './check.ts'
import type { KafkaDeps } from './kafka.ts'

/** Newer than this; older records may be from a time with fewer partitions. */
const recentMs = 24 * 60 * 60_000
/** Records that are looked at in each partition. */
const sampled = 100

/** Whether the newest records lie where murmur2 puts their keys (docs/records.md, Topics). */
export async function checkPartitioner({ kafka, names, topics }: KafkaDeps): Promise<DoctorFinding> {
  const shardTopics = [names.events, names.orders, names.refunds].filter(topic => {
    const state = topics.get(topic)
    return state !== undefined && state.partitions > 0 && state.rights.has('read')
  })
  if (shardTopics.length === 0) return skip('not checked: see topics')
  const logs = await endOffsets(kafka, shardTopics)
  const places = shardTopics.flatMap(topic =>
    [...(logs.get(topic) ?? [])].map(([partition, { start, end }]) => ({
      topic,
      partition,
      range: { start: Math.max(start, end - sampled), end },
    })),
  )
  const found = await Promise.all(
    places.map(async ({ topic, partition, range }) => {
      const keys = await newestKeys(kafka, { topic, partition }, range)
      const count = topics.get(topic)?.partitions ?? 0
      return {
        topic,
        keys: keys.length,
        misplaced: keys.filter(key => partitionOf(key, count) !== partition).length,
      }
    }),
  )
  return judge(found)
}

async function newestKeys(
  kafka: KafkaConnection,
  of: { topic: string; partition: number },
  range: { start: number; end: number },
): Promise<Buffer[]> {
  const windows = readBack(kafka, of, range, ({ key, timestampMs }) => ({ key, timestampMs }))
  const { value } = await windows.next()
  const since = Date.now() - recentMs
  return (value?.kept ?? []).flatMap(({ key, timestampMs }) =>
    key !== null && timestampMs >= since ? [key] : [],
  )
}

function judge(found: { topic: string; keys: number; misplaced: number }[]): DoctorFinding {
  const keys = found.reduce((sum, one) => sum + one.keys, 0)
  const misplaced = found.reduce((sum, one) => sum + one.misplaced, 0)
  if (misplaced === 0) return ok(`murmur2, by ${keys} records of the last day`)
  const topics = [...new Set(found.filter(one => one.misplaced > 0).map(({ topic }) => topic))]
  return fail(
    `${misplaced} of ${keys} records of the last day lie in another partition than murmur2 chooses (${topics.join(', ')})`,
    "let the producers use Kafka's standard partitioner; right after partitions were added, wait a day",
  )
}
