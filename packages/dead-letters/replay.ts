import type { KafkaConnection, OutgoingRecord, Producer } from '@tally/kafka'
import type { Postgres } from '@tally/read-models'
import { ownHeaders } from './headers.ts'
import type { Letter } from './letter.ts'
import { readLetters } from './readLetters.ts'
import { sendUnsent } from './replayed.ts'

export type ReplayParts = {
  kafka: KafkaConnection
  producer: Pick<Producer, 'send'>
  db: Postgres
  topicPrefix: string
}

/** Letters of one transaction: few enough that it ends within a second. */
const together = 1_000

/**
 * Sends every letter that is there by now and was not replayed yet to its topic again, once (commands.md). `onProgress`
 * hears how many were sent so far and how much of the topic is read, 0 to 1. Returns how many were sent, and how many
 * records of the topic are not ours.
 */
export async function replayAll(
  parts: ReplayParts,
  onProgress: (sent: number, share: number) => void = () => {},
): Promise<{ sent: number; foreign: number }> {
  let sent = 0
  let foreign = 0
  for await (const read of readLetters(parts.kafka, parts.topicPrefix)) {
    for (const letters of piecesOf(read.letters)) sent += (await send(parts, letters)).size
    foreign += read.foreign
    onProgress(sent, read.share)
  }
  return { sent, foreign }
}

/** What became of each id that was asked for. */
export type Replayed = {
  sent: string[]
  /** Were replayed before: nothing was sent. */
  before: string[]
  /** There are no such letters. */
  unknown: string[]
}

/** Sends the letters with these ids to their topics again, once (commands.md); reads no further than to the last of them. */
export async function replayLetters(parts: ReplayParts, ids: string[]): Promise<Replayed> {
  const wanted = new Set(ids)
  const sent: string[] = []
  const before: string[] = []
  for await (const read of readLetters(parts.kafka, parts.topicPrefix)) {
    const letters = read.letters.filter(({ id }) => wanted.delete(id))
    for (const piece of piecesOf(letters)) {
      const now = await send(parts, piece)
      for (const { id } of piece) (now.has(id) ? sent : before).push(id)
    }
    if (wanted.size === 0) break
  }
  return { sent, before, unknown: [...wanted] }
}

function send({ producer, db }: ReplayParts, letters: Letter[]): Promise<Set<string>> {
  return sendUnsent(
    db,
    letters.map(({ id }) => id),
    unsent => producer.send(letters.filter(({ id }) => unsent.has(id)).map(originalOf)),
  )
}

/** The record as it was sent first; one without a key goes to its own partition, any other to that of its key. */
export function originalOf({ source, key, value, headers }: Letter): OutgoingRecord {
  const record = { topic: source.topic, key, value, headers: ownHeaders(headers) }
  return key === null ? { ...record, partition: source.partition } : record
}

function piecesOf(letters: Letter[]): Letter[][] {
  const count = Math.ceil(letters.length / together)
  return Array.from({ length: count }, (_, index) => letters.slice(index * together, (index + 1) * together))
}
