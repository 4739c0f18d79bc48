import type { KafkaConnection, Producer } from '@tally/kafka'
import type { Postgres } from '@tally/storage'
import { whyNeverReplayed } from './givenUp.ts'
import type { Letter } from './letter.ts'
import { findOriginal, originalOf, type Refused } from './original.ts'
import { readLetters } from './readLetters.ts'
import { identityOf, replayedOf, sendUnsent } from './replayed.ts'

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
 * Sends every dead letter that exists now and was not replayed yet to its topic again, once. `onProgress`
 * gets how many were sent so far and how much of the topic is read, 0 to 1. Returns how many were sent, how many could
 * not be (with the first of them), and how many records of the topic Tally did not write.
 */
export async function replayAll(
  deps: ReplayDeps,
  onProgress: (sent: number, share: number) => void = () => {},
): Promise<{ sent: number; refused: Refused[]; refusedCount: number; foreign: number }> {
  const all = { sent: 0, refused: [] as Refused[], refusedCount: 0, foreign: 0 }
  for await (const read of readLetters(deps.kafka, deps.topicPrefix)) {
    const { sent, refused } = await replay(deps, read.letters)
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
export async function replayLetters(deps: ReplayDeps, ids: string[]): Promise<Replayed> {
  const wanted = new Set(ids)
  const known = new Set<string>()
  const sent = new Set<string>()
  const refused = new Map<string, Refused>()
  for await (const read of readLetters(deps.kafka, deps.topicPrefix)) {
    const letters = read.letters.filter(({ id }) => wanted.has(id))
    for (const { id } of letters) known.add(id)
    const now = await replay(deps, letters)
    for (const letter of letters) if (now.sent.has(identityOf(letter))) sent.add(letter.id)
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

async function replay({ db, kafka, producer }: ReplayDeps, letters: Letter[]): Promise<Outcome> {
  const sent: string[] = []
  const refused = letters.flatMap(letter => whyNeverReplayed(letter) ?? [])
  const whole = letters.filter(
    letter => letter.leftOut === undefined && whyNeverReplayed(letter) === undefined,
  )
  for (const piece of piecesOf(whole)) {
    const originals = (unsent: Set<string>) =>
      piece.filter(letter => unsent.has(identityOf(letter))).map(originalOf)
    sent.push(...(await sendUnsent(db, piece, unsent => producer.send(originals(unsent)))))
  }
  const withoutValue = letters.filter(hasLeftOut)
  const before = await replayedOf(db, withoutValue)
  // One by one, because each value may take 8 MiB.
  for (const letter of withoutValue.filter(letter => !before.has(identityOf(letter)))) {
    const original = await findOriginal(kafka, letter)
    if ('why' in original) refused.push(original)
    else sent.push(...(await sendUnsent(db, [letter], () => producer.send([original]))))
  }
  return { sent: new Set(sent), refused }
}

const hasLeftOut = (letter: Letter): letter is Letter & { leftOut: NonNullable<Letter['leftOut']> } =>
  letter.leftOut !== undefined

function piecesOf(letters: Letter[]): Letter[][] {
  const count = Math.ceil(letters.length / together)
  return Array.from({ length: count }, (_, index) => letters.slice(index * together, (index + 1) * together))
}
