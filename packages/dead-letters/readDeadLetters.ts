import { type KafkaConnection, readTopic, recordTopics, topicNames } from '@tally/kafka'
import { type DeadLetter, deadLetterOf } from './deadLetter.ts'
import { identityOf } from './replayed.ts'

/** Some dead letters, in the topic's order, each once; `foreign` counts those that Tally did not write. */
export type DeadLetterPiece = {
  entries: DeadLetter[]
  foreign: number
  /** How much of the topic is read by now, 0 to 1. */
  share: number
}

/**
 * Reads the dead letters that exist now, piece by piece, so that a topic of any size fits in memory: between two pieces
 * only the identities of the last dead letters are kept. Throws if the topic is missing or Kafka does not answer.
 */
export async function* readDeadLetters(
  kafka: KafkaConnection,
  topicPrefix: string,
): AsyncGenerator<DeadLetterPiece, void> {
  const names = topicNames(topicPrefix)
  const sources = recordTopics(names)
  const seen = createSeen()
  let done = 0
  for await (const { records, from, next, left } of readTopic(kafka, names.deadLetters)) {
    done += next - from
    const read = records.map(record => deadLetterOf(record, sources))
    const entries = read.filter(entry => entry !== undefined && seen.isNew(identityOf(entry))) as DeadLetter[]
    const foreign = read.filter(entry => entry === undefined).length
    yield { entries, foreign, share: done / (done + left) }
  }
}

/** A crash writes dead letters twice within this many of each other; both generations take 70 MB at most. */
const remembered = 250_000

/** Recognizes a text it has seen before, if fewer than `remembered` others came in between. */
function createSeen() {
  let young = new Set<string>()
  let old = new Set<string>()
  return {
    isNew(text: string): boolean {
      if (young.has(text) || old.has(text)) return false
      if (young.size === remembered) [old, young] = [young, new Set()]
      young.add(text)
      return true
    },
  }
}
