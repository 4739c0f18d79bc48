import { type KafkaConnection, type KafkaRecord, readBack, topicLogs, topicNames } from '@tally/kafka'
import type { Postgres } from '@tally/storage'
import { type Letter, letterOf, sourceTopics } from './letter.ts'
import { type LetterRead, readLetters } from './readLetters.ts'
import { identityOf, replayedOf } from './replayed.ts'

/** As readLetters, without the letters that were replayed. */
export async function* readWaiting(
  deps: { kafka: KafkaConnection; db: Postgres },
  topicPrefix: string,
): AsyncGenerator<LetterRead, void> {
  for await (const read of readLetters(deps.kafka, topicPrefix)) {
    const replayed = await replayedOf(deps.db, read.letters)
    yield { ...read, letters: read.letters.filter(letter => !replayed.has(identityOf(letter))) }
  }
}

/**
 * The latest dead letter with this id, replayed or not, or undefined. Reads backwards from the end: an id names the
 * rejected record, and says nothing about where its dead letter is.
 */
export async function findLetter(
  kafka: KafkaConnection,
  topicPrefix: string,
  id: string,
): Promise<Letter | undefined> {
  const names = topicNames(topicPrefix)
  const sources = sourceTopics(names)
  const ofId = (record: KafkaRecord) => {
    const letter = letterOf(record, sources)
    return letter?.id === id ? letter : undefined
  }
  const latestOf = async ([partition, log]: [number, { start: number; end: number }]) => {
    const windows = readBack(kafka, { topic: names.deadLetters, partition }, log, ofId)
    for await (const { kept } of windows) {
      const found = kept.find(letter => letter !== undefined)
      if (found !== undefined) return found
    }
  }
  const found = await Promise.all((await topicLogs(kafka, names.deadLetters)).map(latestOf))
  return found
    .filter(letter => letter !== undefined)
    .toSorted((one, other) => other.atMs - one.atMs)
    .at(0)
}
