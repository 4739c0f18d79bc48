import { type KafkaRecord, readTopic, topicNames } from '@tally/kafka'
import type { Tally } from '../processes/tally.ts'

/** All dead letters that Kafka has by now, in their order. */
export async function readDeadLetters({ kafka, settings }: Tally): Promise<KafkaRecord[]> {
  const topic = topicNames(settings.TOPIC_PREFIX ?? '').deadLetters
  const deadLetters: KafkaRecord[] = []
  for await (const { records } of readTopic(kafka, topic)) deadLetters.push(...records)
  return deadLetters
}

/** A header's text; the last one if it occurs several times. */
export const headerOf = ({ headers }: KafkaRecord, name: string) => String([headers[name]].flat().at(-1))
