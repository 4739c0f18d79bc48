import { FetchedBatch } from '../batches/fetchedBatch.ts'
import type { Cluster } from '../client/cluster.ts'
// Must come before kafkajs's own modules: it patches them.
import '../client/kafkajs.ts'

const defaultMaxBytes = 4 * 1024 * 1024
/**
 * No read waits longer than this for a record: below the end that Kafka reported there is a record or nothing to wait
 * for.
 */
const maxWaitMs = 500

/** The result of one fetch, or undefined if the log no longer holds that offset. */
export async function fetchOnce(
  cluster: Cluster,
  topic: string,
  partition: number,
  offset: number,
  maxBytes = defaultMaxBytes,
): Promise<FetchedBatch | undefined> {
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
  if (nodeId === undefined) throw new Error(`${topic}-${partition} has no leader`)
  const broker = await cluster.findBroker({ nodeId })
  const wanted = { partition, fetchOffset: String(offset), maxBytes }
  const topics = [{ topic, partitions: [wanted] }]
  try {
    const { responses } = await broker.fetch({
      topics,
      maxBytes,
      maxWaitTime: maxWaitMs,
      minBytes: 1,
    })
    const found = responses[0]?.partitions[0]
    if (found === undefined) throw new Error(`Kafka's answer to a read of ${topic}-${partition} is empty`)
    const fetched = new FetchedBatch(topic, String(offset), found)
    // For a moment, a new leader may not know how far consumers may read.
    if (fetched.isEmpty()) throw new Error(`${topic}-${partition} now ends before offset ${offset}`)
    return fetched
  } catch (error) {
    if ((error as { type?: string }).type === 'OFFSET_OUT_OF_RANGE') return undefined
    throw error
  }
}
