import { createHash } from 'node:crypto'
import {
  type KafkaConnection,
  maxValueBytes,
  type OutgoingRecord,
  type Producer,
  readRecordAt,
} from '@tally/kafka'
import type { Postgres } from '@tally/platform'
import { type DeadLetter, ownHeaders } from './deadLetter.ts'
import { readDeadLetters } from './readDeadLetters.ts'
import { identityOf, replayedOf, sendUnsent } from './replayed.ts'

export type ReplayDeps = {
  kafka: KafkaConnection
  producer: Pick<Producer, 'send'>
  db: Postgres
  topicPrefix: string
}

/** Dead letters per transaction: few enough that it ends within a second. */
const together = 1_000
/** How many dead letters that cannot be replayed are reported one by one. */
const refusedShown = 100

/**
 * Sends every dead letter that exists now and was not replayed yet to its topic again, once; with `reason`, only those
 * of this reason; never those for offsets that an operator gave up, which hold no record. `onProgress` gets how many
 * were sent so far and how much of the topic is read, 0 to 1. Returns how many were sent, how many could not be (with
 * the first of them), and how many records of the topic Tally did not write.
 */
export async function replayAll(
  deps: ReplayDeps,
  {
    reason,
    onProgress = () => {},
  }: { reason?: string | undefined; onProgress?: (sent: number, share: number) => void } = {},
): Promise<{ sent: number; refused: Refused[]; refusedCount: number; foreign: number }> {
  const all = { sent: 0, refused: [] as Refused[], refusedCount: 0, foreign: 0 }
  for await (const read of readDeadLetters(deps.kafka, deps.topicPrefix)) {
    const entries = read.entries.filter(
      entry => (reason ?? entry.reason) === entry.reason && !isGivenUp(entry),
    )
    const { sent, refused } = await replay(deps, entries)
    all.sent += sent.size
    all.refusedCount += refused.length
    all.refused.push(...refused.slice(0, refusedShown - all.refused.length))
    all.foreign += read.foreign
    onProgress(all.sent, read.share)
  }
  return all
}

/** The outcome of each requested id. */
type Replayed = {
  sent: string[]
  /** Replayed before: nothing was sent. */
  before: string[]
  /** Cannot be replayed: nothing was sent. */
  refused: Refused[]
  /** No dead letter has this id. */
  unknown: string[]
}

/**
 * Sends the dead letters with these ids to their topics again, once. Reads the whole topic: if a topic
 * was created again, another dead letter may have the same id.
 */
export async function replayDeadLetters(deps: ReplayDeps, ids: string[]): Promise<Replayed> {
  const wanted = new Set(ids)
  const known = new Set<string>()
  const sent = new Set<string>()
  const refused = new Map<string, Refused>()
  for await (const read of readDeadLetters(deps.kafka, deps.topicPrefix)) {
    const entries = read.entries.filter(({ id }) => wanted.has(id))
    for (const { id } of entries) known.add(id)
    const now = await replay(deps, entries)
    for (const entry of entries) if (now.sent.has(identityOf(entry))) sent.add(entry.id)
    for (const one of now.refused) refused.set(one.id, one)
  }
  const all = [...wanted]
  return {
    sent: all.filter(id => sent.has(id)),
    before: all.filter(id => known.has(id) && !sent.has(id) && !refused.has(id)),
    refused: all.flatMap(id => refused.get(id) ?? []),
    unknown: all.filter(id => !known.has(id)),
  }
}

/** `sent` holds the dead letters' identities. */
type Outcome = { sent: Set<string>; refused: Refused[] }

async function replay({ db, kafka, producer }: ReplayDeps, entries: DeadLetter[]): Promise<Outcome> {
  const sent: string[] = []
  const refused: Refused[] = entries.filter(isGivenUp).map(({ id }) => ({ id, why: whyGivenUp }))
  const whole = entries.filter(entry => entry.leftOut === undefined && !isGivenUp(entry))
  for (let at = 0; at < whole.length; at += together) {
    const piece = whole.slice(at, at + together)
    const originals = (unsent: Set<string>) =>
      piece.filter(entry => unsent.has(identityOf(entry))).map(originalOf)
    sent.push(...(await sendUnsent(db, piece, unsent => producer.send(originals(unsent)))))
  }
  const withoutValue = entries.filter(({ leftOut }) => leftOut !== undefined)
  const before = await replayedOf(db, withoutValue)
  // One by one, because each value may take 8 MiB.
  for (const entry of withoutValue.filter(entry => !before.has(identityOf(entry)))) {
    const original = await findOriginal(kafka, entry)
    if ('why' in original) refused.push(original)
    else sent.push(...(await sendUnsent(db, [entry], () => producer.send([original]))))
  }
  return { sent: new Set(sent), refused }
}

/** Why a dead letter cannot be replayed, as a sentence. */
export type Refused = { id: string; why: string }

/** The record as it was first sent; without a key it goes to its own partition, otherwise to that of its key. */
export function originalOf({ source, key, value, headers }: DeadLetter): OutgoingRecord {
  const record = { topic: source.topic, key, value, headers: ownHeaders(headers) }
  return key === null ? { ...record, partition: source.partition } : record
}

/**
 * The record of a dead letter whose value was left out, read from its topic; never one without a value. Throws
 * kafkajs's error if Kafka does not answer.
 */
async function findOriginal(
  kafka: KafkaConnection,
  { id, source: { topic, partition, offset }, leftOut }: DeadLetter,
): Promise<OutgoingRecord | Refused> {
  const { bytes = 0, sha256 } = leftOut ?? {}
  const at = `offset ${offset} of ${topic}-${partition}`
  if (bytes > maxValueBytes)
    return { id, why: `its value of ${bytes} bytes is at ${at}, but Tally reads at most ${maxValueBytes}` }
  const record = await readRecordAt(kafka, { topic, partition }, offset)
  if (record === undefined || record.value === null || sha256Of(record.value) !== sha256)
    return { id, why: `the dead letter has no value, and ${at} no longer holds the record` }
  const { key, value, headers } = record
  return { topic, key, value, headers, ...(key === null && { partition }) }
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** The reasons of dead letters for offsets that an operator skipped: there is nothing to replay. */
const givenUp = new Set(['gap', 'recreated', 'skipped'])
const isGivenUp = ({ reason }: DeadLetter): boolean => givenUp.has(reason)
const whyGivenUp = 'it stands for offsets that `tally offsets` skipped, and holds no record'
