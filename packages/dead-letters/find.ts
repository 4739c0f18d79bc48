import {
  type KafkaConnection,
  type KafkaRecord,
  readBack,
  recordTopics,
  topicLogs,
  topicNames,
} from '@tally/kafka'
import type { Postgres } from '@tally/platform'
import { type DeadLetter, deadLetterOf } from './deadLetter.ts'
import { type DeadLetterPiece, readDeadLetters } from './readDeadLetters.ts'
import { identityOf, replayedOf } from './replayed.ts'

/** As readDeadLetters, without the dead letters that were replayed. */
export async function* readWaiting(
  deps: { kafka: KafkaConnection; db: Postgres },
  topicPrefix: string,
): AsyncGenerator<DeadLetterPiece, void> {
  for await (const read of readDeadLetters(deps.kafka, topicPrefix)) {
    const replayed = await replayedOf(deps.db, read.entries)
    yield { ...read, entries: read.entries.filter(entry => !replayed.has(identityOf(entry))) }
  }
}

/**
 * The latest dead letter with this id, replayed or not, or undefined. Reads backwards from the end: an id names the
 * rejected record, and says nothing about where its dead letter is.
 */
export async function findDeadLetter(
  kafka: KafkaConnection,
  topicPrefix: string,
  id: string,
): Promise<DeadLetter | undefined> {
  const names = topicNames(topicPrefix)
  const sources = recordTopics(names)
  const ofId = (record: KafkaRecord) => {
    const entry = deadLetterOf(record, sources)
    return entry?.id === id ? entry : undefined
  }
  const latestOf = async ([partition, log]: [number, { start: number; end: number }]) => {
    const windows = readBack(kafka, { topic: names.deadLetters, partition }, log, ofId)
    for await (const { kept } of windows) {
      const found = kept.find(entry => entry !== undefined)
      if (found !== undefined) return found
    }
  }
  const found = await Promise.all((await topicLogs(kafka, names.deadLetters)).map(latestOf))
  return found
    .filter(entry => entry !== undefined)
    .toSorted((one, other) => other.atMs - one.atMs)
    .at(0)
}
