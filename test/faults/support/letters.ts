import { connectKafka, type KafkaConnection, readTopic, topicNames } from '@tally/kafka'
import { openLogger } from '@tally/runtime'
import type { Tally } from '@tally/testkit/processes/tally'
import { headerOf } from '@tally/testkit/servers/deadLetters'

/** What a test looks at of a dead letter: its value may be too large to keep many. */
export type LetterSeen = {
  at: string
  reason: string
  bytes: string
  sha256: string
  length: number | undefined
}

/** All dead letters that Kafka has by now. */
export async function readLetters({ settings }: Tally): Promise<LetterSeen[]> {
  const letters: LetterSeen[] = []
  await withKafka(settings.KAFKA_BROKERS ?? '', async kafka => {
    for await (const { records } of readTopic(kafka, topicNames(settings.TOPIC_PREFIX ?? '').deadLetters)) {
      for (const letter of records) {
        const offset = headerOf(letter, '__connect.errors.offset')
        letters.push({
          at: `${headerOf(letter, '__connect.errors.topic').split('.').at(-1)}-${offset}`,
          reason: headerOf(letter, 'tally.reason'),
          bytes: headerOf(letter, 'tally.value-bytes'),
          sha256: headerOf(letter, 'tally.value-sha256'),
          length: letter.value?.length,
        })
      }
    }
  })
  return letters
}

export async function withKafka<T>(
  brokers: string,
  work: (kafka: KafkaConnection) => Promise<T>,
): Promise<T> {
  const logger = openLogger('test', 'silent')
  const kafka = connectKafka({ brokers: brokers.split(','), ssl: false }, { clientId: 'test', logger })
  return await work(kafka).finally(() => kafka.close())
}
