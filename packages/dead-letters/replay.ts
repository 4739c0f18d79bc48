import type { KafkaConnection, Producer } from '@tally/kafka'
import type { Postgres } from '@tally/read-models'
import type { Letter } from './letter.ts'
import { findOriginal, originalOf, type Refused } from './original.ts'
import { readLetters } from './readLetters.ts'
import { replayedOf, sendUnsent } from './replayed.ts'

export type { Refused } from './original.ts'

export type ReplayParts = {
  kafka: KafkaConnection
  producer: Pick<Producer, 'send'>
  db: Postgres
  topicPrefix: string
}

/** Letters of one transaction: few enough that it ends within a second. */
const together = 1_000
/** Of letters that cannot be replayed so many are told of one by one. */
const refusedShown = 100

/**
 * Sends every letter that is there by now and was not replayed yet to its topic again, once (commands.md). `onProgress`
 * hears how many were sent so far and how much of the topic is read, 0 to 1. Returns how many were sent, how many could
 * not be with the first of them, and how many records of the topic are not ours.
 */
export async function replayAll(
  parts: ReplayParts,
  onProgress: (sent: number, share: number) => void = () => {},
): Promise<{ sent: number; refused: Refused[]; refusedCount: number; foreign: number }> {
  const all = { sent: 0, refused: [] as Refused[], refusedCount: 0, foreign: 0 }
  for await (const read of readLetters(parts.kafka, parts.topicPrefix)) {
    const { sent, refused } = await replay(parts, read.letters)
    all.sent += sent.size
    all.refusedCount += refused.length
    all.refused.push(...refused.slice(0, refusedShown - all.refused.length))
    all.foreign += read.foreign
    onProgress(all.sent, read.share)
  }
  return all
}

/** What became of each id that was asked for. */
export type Replayed = {
  sent: string[]
  /** Were replayed before: nothing was sent. */
  before: string[]
  /** Cannot be replayed: nothing was sent. */
  refused: Refused[]
  /** There are no such letters. */
  unknown: string[]
}

/** Sends the letters with these ids to their topics again, once (commands.md); reads no further than to the last of them. */
export async function replayLetters(parts: ReplayParts, ids: string[]): Promise<Replayed> {
  const wanted = new Set(ids)
  const all: Omit<Replayed, 'unknown'> = { sent: [], before: [], refused: [] }
  for await (const read of readLetters(parts.kafka, parts.topicPrefix)) {
    const letters = read.letters.filter(({ id }) => wanted.delete(id))
    const { sent, refused } = await replay(parts, letters)
    const isRefused = new Set(refused.map(({ id }) => id))
    for (const { id } of letters) if (!isRefused.has(id)) (sent.has(id) ? all.sent : all.before).push(id)
    all.refused.push(...refused)
    if (wanted.size === 0) break
  }
  return { ...all, unknown: [...wanted] }
}

type Outcome = { sent: Set<string>; refused: Refused[] }

async function replay(parts: ReplayParts, letters: Letter[]): Promise<Outcome> {
  const sent: string[] = []
  for (const piece of piecesOf(letters.filter(({ leftOut }) => leftOut === undefined))) {
    const originals = (unsent: Set<string>) => piece.filter(({ id }) => unsent.has(id)).map(originalOf)
    const ids = piece.map(({ id }) => id)
    sent.push(...(await sendUnsent(parts.db, ids, unsent => parts.producer.send(originals(unsent)))))
  }
  const withoutValue = letters.filter(hasLeftOut)
  const before = await replayedOf(
    parts.db,
    withoutValue.map(({ id }) => id),
  )
  const refused: Refused[] = []
  // One by one, because each value may have 8 MiB.
  for (const letter of withoutValue.filter(({ id }) => !before.has(id))) {
    const original = await findOriginal(parts.kafka, letter)
    if ('why' in original) refused.push(original)
    else sent.push(...(await sendUnsent(parts.db, [letter.id], () => parts.producer.send([original]))))
  }
  return { sent: new Set(sent), refused }
}

const hasLeftOut = (letter: Letter): letter is Letter & { leftOut: NonNullable<Letter['leftOut']> } =>
  letter.leftOut !== undefined

function piecesOf(letters: Letter[]): Letter[][] {
  const count = Math.ceil(letters.length / together)
  return Array.from({ length: count }, (_, index) => letters.slice(index * together, (index + 1) * together))
}
