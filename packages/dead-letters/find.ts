import type { KafkaConnection } from '@tally/kafka'
import type { Postgres } from '@tally/read-models'
import type { Letter } from './letter.ts'
import { type LetterRead, readLetters } from './readLetters.ts'
import { identityOf, replayedOf } from './replayed.ts'

/** As readLetters, without the letters that were replayed (commands.md). */
export async function* readWaiting(
  parts: { kafka: KafkaConnection; db: Postgres },
  topicPrefix: string,
): AsyncGenerator<LetterRead, void> {
  for await (const read of readLetters(parts.kafka, topicPrefix)) {
    const replayed = await replayedOf(parts.db, read.letters)
    yield { ...read, letters: read.letters.filter(letter => !replayed.has(identityOf(letter))) }
  }
}

/** The latest dead letter with this id, replayed or not, or undefined. */
export async function findLetter(
  kafka: KafkaConnection,
  topicPrefix: string,
  id: string,
): Promise<Letter | undefined> {
  let found: Letter | undefined
  for await (const { letters } of readLetters(kafka, topicPrefix))
    found = letters.findLast(letter => letter.id === id) ?? found
  return found
}
