import { connectKafka, type KafkaConnection, readTopic, topicNames } from '@tally/kafka'
import { openLogger } from '@tally/runtime'
import type { Tally } from '@tally/testkit/processes/tally'
import { headerOf } from '@tally/testkit/servers/deadLetters'

/** What a test looks at of a dead letter: its value may be too large to keep many. */
export type DeadLetterSummary = {
  at: string
  reason: string
  bytes: string
  sha256: string
  length: number | undefined
}

/** All dead letters that Kafka has by now. */
export async function readDeadLetterSummaries({ settings }: Tally): Promise<DeadLetterSummary[]> {
  const deadLetters: DeadLetterSummary[] = []
  await withKafka(settings.KAFKA_BROKERS ?? '', async kafka => {
    for await (const { records } of readTopic(kafka, topicNames(settings.TOPIC_PREFIX ?? '').deadLetters)) {
      for (const deadLetter of records) {
        const offset = headerOf(deadLetter, '__connect.errors.offset')
        deadLetters.push({
          at: `${headerOf(deadLetter, '__connect.errors.topic').split('.').at(-1)}-${offset}`,
          reason: headerOf(deadLetter, 'tally.reason'),
          bytes: headerOf(deadLetter, 'tally.value-bytes'),
          sha256: headerOf(deadLetter, 'tally.value-sha256'),
          length: deadLetter.value?.length,
        })
      }
    }
  })
  return deadLetters
}

export async function withKafka<T>(
  brokers: string,
  work: (kafka: KafkaConnection) => Promise<T>,
): Promise<T> {
  const logger = openLogger('test', 'silent')
  const kafka = connectKafka({ brokers: brokers.split(','), ssl: false }, { clientId: 'test', logger })
  return await work(kafka).finally(() => kafka.close())
}
