import { inside, type KafkaConnection } from '../client/connection.ts'
import type { PartitionOffsets } from '../types.ts'

/**
 * Asks where the log of each partition begins and ends for a reader: `end` is the offset that the next visible record
 * will get or exceed (records of an open transaction lie behind it). Two small requests a topic, over one connection that
 * stays open. Throws kafkajs's error when Kafka cannot be asked.
 */
export async function endOffsets(
  connection: KafkaConnection,
  topics: string[],
): Promise<Map<string, PartitionOffsets>> {
  return inside(connection).admin.use(async admin => {
    const all = await Promise.all(topics.map(topic => admin.fetchTopicOffsets(topic)))
    return new Map(
      topics.map((topic, i) => [
        topic,
        new Map(
          all[i]?.map(({ partition, low, high }) => [partition, { start: Number(low), end: Number(high) }]),
        ),
      ]),
    )
  })
}
