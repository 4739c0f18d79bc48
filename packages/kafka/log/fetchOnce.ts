import { FetchedBatch } from '../batches/fetchedBatch.ts'
import type { Cluster } from '../client/cluster.ts'
import { errorOf, fetchFrom } from './fetch.ts'

const defaultMaxBytes = 4 * 1024 * 1024
/** No read waits longer for a record: below the end that Kafka reported there is a record or nothing to wait for. */
const maxWaitMs = 500
export const offsetOutOfRange = 1

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
  const wanted = [{ topic, partition, offset, maxBytes }]
  const [answered] = await fetchFrom(broker, { maxWaitMs, maxBytes }, wanted)
  if (answered === undefined) throw new Error(`Kafka's answer to a read of ${topic}-${partition} is empty`)
  if (answered.errorCode === offsetOutOfRange) return undefined
  if (answered.errorCode !== 0) throw errorOf(answered.errorCode)
  const fetched = new FetchedBatch(answered, offset)
  // For a moment, a new leader may not know how far consumers may read.
  if (fetched.isEmpty) throw new Error(`${topic}-${partition} now ends before offset ${offset}`)
  return fetched
}
