import {
  type KafkaConnection,
  type KafkaRecord,
  readBack,
  readTopic,
  recordTopics,
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

/** A dead letter without its value and headers, with its own place in the dead-letter topic. */
type ListedDeadLetter = Omit<DeadLetter, 'value' | 'headers'> & { partition: number; offset: number }

/** Offsets by partition: everything before them is older. */
type Place = Map<number, number>

type Newest = {
  /** The newest first, each once. */
  entries: ListedDeadLetter[]
  /** Records in between that Tally did not write. */
  foreign: number
  /** Where the read began, and where it ended; without entries in `until` the topic's start was reached. */
  from: Place
  until: Place
}

type Options = {
  /** Reading ends once this many are found; all that were read by then are returned. */
  limit: number
  /** Of `olderThan`: only what is older is read. */
  before?: string | undefined
  /** Records that are read of a partition at most, if fewer than `limit` wait among them; a window more may be read. */
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
  const keep = keepListed(recordTopics(names))
  const place = placeOf(before)
  const newest = { foreign: 0, from: new Map(), until: new Map() } satisfies Partial<Newest>
  const ofPartitions: ListedDeadLetter[][] = []
  for (const [partition, { start, end }] of await topicLogs(kafka, names.deadLetters)) {
    const log = { start, end: Math.min(end, place.get(partition) ?? end) }
    const found = new Map<string, ListedDeadLetter>()
    newest.from.set(partition, log.end)
    const windows = readBack(kafka, { topic: names.deadLetters, partition }, log, keep)
    for await (const { from, kept } of windows) {
      const entries = kept.filter(entry => entry !== undefined)
      newest.foreign += kept.length - entries.length
      for (const entry of await waiting(db, entries)) {
        const identity = identityOf(entry)
        if (!found.has(identity)) found.set(identity, { ...entry, partition })
      }
      if (from > start && (found.size >= limit || log.end - from >= mostRead)) {
        newest.until.set(partition, from)
        break
      }
    }
    ofPartitions.push([...found.values()])
  }
  return { ...newest, entries: merge(ofPartitions) }
}

/** Keeps the order within a partition, whatever its timestamps say: a cursor depends on it. */
function merge(ofPartitions: ListedDeadLetter[][]): ListedDeadLetter[] {
  const merged: ListedDeadLetter[] = []
  const left = ofPartitions.map(entries => ({ entries, next: 0 }))
  for (;;) {
    const [first, ...others] = left.filter(({ entries, next }) => next < entries.length)
    if (first === undefined) return merged
    const timeOf = ({ entries, next }: typeof first) => entries[next]?.atMs ?? 0
    const latest = others.reduce((one, other) => (timeOf(other) > timeOf(one) ? other : one), first)
    merged.push(latest.entries[latest.next++] as ListedDeadLetter)
  }
}

/**
 * The cursor for what is older than the first `shown` of these dead letters, or undefined if nothing is: the offsets to
 * read before, by partition.
 */
export function olderThan({ entries, from, until }: Newest, shown: number): string | undefined {
  const of = (partition: number, some: ListedDeadLetter[]) => some.filter(one => one.partition === partition)
  const place = [...from].map(([partition, end]) => {
    const isCut = of(partition, entries.slice(shown)).length > 0
    const lastShown = of(partition, entries.slice(0, shown)).at(-1)
    return `${partition}:${isCut ? (lastShown?.offset ?? end) : (until.get(partition) ?? 0)}`
  })
  return place.every(one => one.endsWith(':0')) ? undefined : place.join(',')
}

/** Whether a text has the shape of a cursor of `olderThan`. */
export const isCursor = (text: unknown): text is string =>
  typeof text === 'string' && /^\d{1,5}:\d{1,15}(,\d{1,5}:\d{1,15}){0,99}$/.test(text)

function placeOf(cursor: string | undefined): Place {
  const pairs = cursor?.split(',').map(pair => pair.split(':').map(Number) as [number, number])
  return new Map(pairs)
}

function keepListed(sources: ReadonlyMap<string, unknown>) {
  return (record: KafkaRecord): Omit<ListedDeadLetter, 'partition'> | undefined => {
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
