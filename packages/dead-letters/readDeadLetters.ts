import {
  type KafkaConnection,
  type KafkaRecord,
  readBack,
  readTopic,
  recordTopics,
  type TopicNames,
  topicLogs,
  topicNames,
} from '@tally/kafka'
import type { Postgres } from '@tally/platform'
import { type DeadLetter, deadLetterOf } from './deadLetter.ts'
import { identityOf, replayedOf } from './replayed.ts'

/** Some dead letters, in the topic's order, each once; `foreign` counts those that Tally did not write. */
type DeadLetterPiece = {
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
  const isNew = createSeen()
  let done = 0
  for await (const { records, from, next, left } of readTopic(kafka, names.deadLetters)) {
    done += next - from
    const read = records.map(record => deadLetterOf(record, sources))
    const entries = read.filter(entry => entry !== undefined && isNew(identityOf(entry))) as DeadLetter[]
    const foreign = read.filter(entry => entry === undefined).length
    yield { entries, foreign, share: done / (done + left) }
  }
}

/** A crash writes dead letters twice within this many of each other; both generations take 70 MB at most. */
const remembered = 250_000

/** Returns whether a text is new: not seen before with fewer than `remembered` others in between. */
function createSeen() {
  let young = new Set<string>()
  let old = new Set<string>()
  return (text: string): boolean => {
    if (young.has(text) || old.has(text)) return false
    if (young.size === remembered) [old, young] = [young, new Set()]
    young.add(text)
    return true
  }
}

/** As readDeadLetters, without the dead letters that were replayed. */
export async function* readWaiting(
  deps: { kafka: KafkaConnection; db: Postgres },
  topicPrefix: string,
): AsyncGenerator<DeadLetterPiece, void> {
  for await (const read of readDeadLetters(deps.kafka, topicPrefix)) {
    yield { ...read, entries: await waiting(deps.db, read.entries) }
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
  const deadLetters = { topic: names.deadLetters, partition: 0 }
  for await (const { kept } of readBack(kafka, deadLetters, await logOf(kafka, names), ofId)) {
    const found = kept.find(entry => entry !== undefined)
    if (found !== undefined) return found
  }
}

/** The log of the dead-letter topic: it has one partition. */
async function logOf(kafka: KafkaConnection, names: TopicNames): Promise<{ start: number; end: number }> {
  return (await topicLogs(kafka, names.deadLetters))[0]?.[1] ?? { start: 0, end: 0 }
}

/** A dead letter without its value and headers, with its own offset in the dead-letter topic. */
type ListedDeadLetter = Omit<DeadLetter, 'value' | 'headers'> & { offset: number }

type Newest = {
  /** The newest first, each once. */
  entries: ListedDeadLetter[]
  /** Records in between that Tally did not write. */
  foreign: number
  /** The offset where the read ended; undefined if it reached the topic's start. */
  until: number | undefined
}

type Options = {
  /** Reading ends once this many are found; all that were read by then are returned. */
  limit: number
  /** Of `olderThan`: only what is older is read. */
  before?: string | undefined
  /** Records that are read at most, if fewer than `limit` wait among them; a window more may be read. */
  mostRead?: number
}

/**
 * The newest dead letters that were not replayed. Reads backwards from the end of the topic, and so costs about what it
 * returns; replayed dead letters in between are read, too. Throws if the topic is missing or Kafka or Postgres does not
 * answer.
 */
export async function readNewest(
  { kafka, db }: { kafka: KafkaConnection; db: Postgres },
  topicPrefix: string,
  { limit, before, mostRead = Number.POSITIVE_INFINITY }: Options,
): Promise<Newest> {
  const names = topicNames(topicPrefix)
  const { start, end: last } = await logOf(kafka, names)
  const end = Math.min(last, Number(before ?? last))
  const found = new Map<string, ListedDeadLetter>()
  let foreign = 0
  const deadLetters = { topic: names.deadLetters, partition: 0 }
  const windows = readBack(kafka, deadLetters, { start, end }, keepListed(recordTopics(names)))
  for await (const { from, kept } of windows) {
    const entries = kept.filter(entry => entry !== undefined)
    foreign += kept.length - entries.length
    for (const entry of await waiting(db, entries)) {
      const identity = identityOf(entry)
      if (!found.has(identity)) found.set(identity, entry)
    }
    if (from > start && (found.size >= limit || end - from >= mostRead))
      return { entries: [...found.values()], foreign, until: from }
  }
  return { entries: [...found.values()], foreign, until: undefined }
}

/** The cursor for what is older than the first `shown` of these dead letters: an offset; undefined if nothing is. */
export function olderThan({ entries, until }: Newest, shown: number): string | undefined {
  const older = entries.length > shown ? entries[shown - 1]?.offset : until
  return older?.toString()
}

/** Whether a text has the shape of a cursor of `olderThan`. */
export const isCursor = (text: unknown): text is string => typeof text === 'string' && /^\d{1,15}$/.test(text)

function keepListed(sources: ReadonlyMap<string, unknown>) {
  return (record: KafkaRecord): ListedDeadLetter | undefined => {
    const entry = deadLetterOf(record, sources)
    if (entry === undefined) return undefined
    const { value: _value, headers: _headers, key, ...listed } = entry
    // A key read from Kafka is a view that keeps the whole fetch in memory.
    return { ...listed, key: key && Buffer.from(key), offset: record.offset }
  }
}

async function waiting<L extends Pick<DeadLetter, 'id' | 'fingerprint'>>(db: Postgres, entries: L[]) {
  const replayed = await replayedOf(db, entries)
  return entries.filter(entry => !replayed.has(identityOf(entry)))
}
