import { createRequire } from 'node:module'
import type { Batch } from 'kafkajs'
import type { Cluster } from './cluster.ts'
// Before kafkajs's own modules are asked for: it patches them.
import './kafkajs.ts'
import { toRecordBatch } from './recordBatch.ts'
import type { RecordBatch } from './types.ts'

const MAX_BYTES = 4 * 1024 * 1024
/** No read waits longer than this for a record: below the end that Kafka named there is one, or nothing to wait for. */
const MAX_WAIT_MS = 500
/** The records that one fetch brings, or undefined where the log does not hold that offset any more. */
export async function fetchOnce(
  cluster: Cluster,
  topic: string,
  partition: number,
  offset: number,
  maxBytes = MAX_BYTES,
): Promise<RecordBatch | undefined> {
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
  if (nodeId === undefined) throw new Error(`${topic}-${partition} has no leader`)
  const broker = await cluster.findBroker({ nodeId })
  const wanted = { partition, fetchOffset: String(offset), maxBytes }
  const topics = [{ topic, partitions: [wanted] }]
  try {
    const { responses } = await broker.fetch({
      topics,
      maxBytes,
      maxWaitTime: MAX_WAIT_MS,
      minBytes: 1,
    })
    const found = responses[0]?.partitions[0]
    if (found === undefined) throw new Error(`Kafka's answer to a read of ${topic}-${partition} is empty`)
    const batch = toRecordBatch(new KafkajsBatch(topic, String(offset), found))
    // A new leader may not know for a moment how far it may let us read.
    if (batch.next <= offset) throw new Error(`${topic}-${partition} ends before offset ${offset} by now`)
    return batch
  } catch (error) {
    if ((error as { type?: string }).type === 'OFFSET_OUT_OF_RANGE') return undefined
    throw error
  }
}

const KafkajsBatch: new (topic: string, fetchedOffset: string, partition: object) => Batch = createRequire(
  import.meta.url,
)('kafkajs/src/consumer/batch.js')
