import { connectKafka, type KafkaRecord, readTopic, topicNames } from '@tally/kafka'
import { openLogger } from '@tally/runtime'
import type { Tally } from '../processes/tally.ts'

/** All dead letters that Kafka has by now, in their order. */
export async function readDeadLetters({ settings }: Tally): Promise<KafkaRecord[]> {
  const topic = topicNames(settings.TOPIC_PREFIX ?? '').deadLetters
  const brokers = (settings.KAFKA_BROKERS ?? '').split(',')
  const kafka = connectKafka(
    { brokers, ssl: false },
    { clientId: 'test', logger: openLogger('test', 'silent') },
  )
  try {
    const deadLetters: KafkaRecord[] = []
    for await (const { records } of readTopic(kafka, topic)) deadLetters.push(...records)
    return deadLetters
  } finally {
    await kafka.close()
  }
}

/** A header's text; the last one if it occurs several times. */
export const headerOf = ({ headers }: KafkaRecord, name: string) => String([headers[name]].flat().at(-1))
