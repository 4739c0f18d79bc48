import type { KafkaConnection } from '@tally/kafka'
import type { Postgres } from '@tally/read-models'
import type { Letter } from './letter.ts'
import { type LetterRead, readLetters } from './readLetters.ts'
import { replayedOf } from './replayed.ts'

/** As readLetters, without the letters that were replayed (commands.md). */
export async function* readWaiting(
  parts: { kafka: KafkaConnection; db: Postgres },
  topicPrefix: string,
): AsyncGenerator<LetterRead, void> {
  for await (const read of readLetters(parts.kafka, topicPrefix)) {
    const replayed = await replayedOf(
      parts.db,
      read.letters.map(({ id }) => id),
    )
    yield { ...read, letters: read.letters.filter(({ id }) => !replayed.has(id)) }
  }
}

/** The letter with this id, whether it was replayed or not, or undefined. */
export async function findLetter(
  kafka: KafkaConnection,
  topicPrefix: string,
  id: string,
): Promise<Letter | undefined> {
  for await (const { letters } of readLetters(kafka, topicPrefix)) {
    const found = letters.find(letter => letter.id === id)
    if (found !== undefined) return found
  }
  return undefined
}
