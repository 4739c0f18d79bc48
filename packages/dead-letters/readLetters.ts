import { type KafkaConnection, readTopic, topicNames } from '@tally/kafka'
import { type Letter, letterOf, sourceTopics } from './letter.ts'
import { identityOf } from './replayed.ts'

/**
 * Some dead letters, in the order of the topic, each once; `foreign` counts the records in between that Tally did not
 * write.
 */
export type LetterRead = {
  letters: Letter[]
  foreign: number
  /** How much of the topic is read by now, 0 to 1. */
  share: number
}

/**
 * Reads the dead letters that are there by now, piece by piece, so that a topic of any size fits in memory: what is kept of
 * a letter between two pieces is its id. Throws where the topic is missing or Kafka does not answer.
 */
export async function* readLetters(
  kafka: KafkaConnection,
  topicPrefix: string,
): AsyncGenerator<LetterRead, void> {
  const names = topicNames(topicPrefix)
  const sources = sourceTopics(names)
  const seen = new Set<string>()
  let done = 0
  for await (const { records, from, next, left } of readTopic(kafka, names.deadLetters)) {
    done += next - from
    const read = records.map(record => letterOf(record, sources))
    const letters = read.filter(letter => letter !== undefined && isNew(letter, seen)) as Letter[]
    const foreign = read.filter(letter => letter === undefined).length
    yield { letters, foreign, share: done / (done + left) }
  }
}

function isNew(letter: Letter, seen: Set<string>): boolean {
  const identity = identityOf(letter)
  if (seen.has(identity)) return false
  seen.add(identity)
  return true
}
