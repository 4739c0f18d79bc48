import type { KafkaConnection, Producer } from '@tally/kafka'
import type { Postgres } from '@tally/platform'
import type { DeadLetter } from './deadLetter.ts'
import { findOriginal, originalOf, type Refused } from './original.ts'
import { readDeadLetters } from './readDeadLetters.ts'
import { identityOf, replayedOf, sendUnsent } from './replayed.ts'
import { whyNeverReplayed } from './skipped.ts'

export type { Refused } from './original.ts'

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
 * of this reason. `onProgress` gets how many were sent so far and how much of the topic is read, 0 to 1. Returns how
 * many were sent, how many could not be (with the first of them), and how many records of the topic Tally did not
 * write.
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
    const entries = read.entries.filter(entry => reason === undefined || entry.reason === reason)
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
export type Replayed = {
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
  const refused = entries.flatMap(entry => whyNeverReplayed(entry) ?? [])
  const whole = entries.filter(entry => entry.leftOut === undefined && whyNeverReplayed(entry) === undefined)
  for (const piece of piecesOf(whole)) {
    const originals = (unsent: Set<string>) =>
      piece.filter(entry => unsent.has(identityOf(entry))).map(originalOf)
    sent.push(...(await sendUnsent(db, piece, unsent => producer.send(originals(unsent)))))
  }
  const withoutValue = entries.filter(hasLeftOut)
  const before = await replayedOf(db, withoutValue)
  // One by one, because each value may take 8 MiB.
  for (const entry of withoutValue.filter(entry => !before.has(identityOf(entry)))) {
    const original = await findOriginal(kafka, entry)
    if ('why' in original) refused.push(original)
    else sent.push(...(await sendUnsent(db, [entry], () => producer.send([original]))))
  }
  return { sent: new Set(sent), refused }
}

const hasLeftOut = (
  entry: DeadLetter,
): entry is DeadLetter & { leftOut: NonNullable<DeadLetter['leftOut']> } => entry.leftOut !== undefined

function piecesOf(entries: DeadLetter[]): DeadLetter[][] {
  const count = Math.ceil(entries.length / together)
  return Array.from({ length: count }, (_, index) => entries.slice(index * together, (index + 1) * together))
}
