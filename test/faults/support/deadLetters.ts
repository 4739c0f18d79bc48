import { readTopic, topicNames } from '@tally/kafka'
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
export async function readDeadLetterSummaries({ kafka, settings }: Tally): Promise<DeadLetterSummary[]> {
  const deadLetters: DeadLetterSummary[] = []
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
  return deadLetters
}
