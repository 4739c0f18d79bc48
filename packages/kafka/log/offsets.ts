import { inside, type KafkaConnection } from '../client/connection.ts'
import type { PartitionOffsets } from '../types.ts'

/**
 * Where the log of each partition begins and ends for a reader: `end` is at most the offset of the next visible record,
 * because records of open transactions lie after it. Sends two small requests per topic, over a connection that stays
 * open. Throws kafkajs's error if Kafka does not answer.
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
