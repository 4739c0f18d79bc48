import { randomUUID } from 'node:crypto'
import { connectKafka, consumeBatches, endOffsets, type KafkaRecord, topicNames } from '@tally/kafka'
import { openLogger } from '@tally/runtime'
import type { Tally } from '../processes/tally.ts'
import { until } from '../until.ts'

/** All dead letters that Kafka has by now, in their order. */
export async function readDeadLetters({ settings }: Tally): Promise<KafkaRecord[]> {
  const topic = topicNames(settings.TOPIC_PREFIX ?? '').deadLetters
  const brokers = (settings.KAFKA_BROKERS ?? '').split(',')
  const kafka = connectKafka(
    { brokers, ssl: false },
    { clientId: 'test', logger: openLogger('test', 'silent') },
  )
  try {
    const end = (await endOffsets(kafka, [topic])).get(topic)?.get(0)?.end ?? 0
    const deadLetters: KafkaRecord[] = []
    let next = 0
    const consumer = await consumeBatches(kafka, {
      groupId: `test-${randomUUID()}`,
      topics: [topic],
      onAssigned: () => new Map([[topic, new Map([[0, 0]])]]),
      async onBatch(batch) {
        deadLetters.push(...batch.records)
        next = batch.next
        return batch.next
      },
      onCrash: error => {
        throw error
      },
    })
    await until('the dead letters are read', () => next >= end).finally(() => consumer.stop())
    return deadLetters
  } finally {
    await kafka.close()
  }
}

/** A header's text; the last one if it occurs several times. */
export const headerOf = ({ headers }: KafkaRecord, name: string) => String([headers[name]].flat().at(-1))
