import { type Letter, readWaiting } from '@tally/dead-letters'
import type { KafkaConnection } from '@tally/kafka'
import type { Postgres } from '@tally/read-models'

/** Letters that a page shows, and how many it reads at most to count their reasons: the commands see all. */
const shownLetters = 50
const countedLetters = 20_000
/** The topic is read from its start: pages that are asked for at once share a read. */
const keptMs = 3_000

export type ShownLetter = Pick<Letter, 'id' | 'reason' | 'message' | 'atMs'>
/** `isWhole` is false where there are more letters than were read. */
export type Letters = { byReason: Map<string, number>; latest: ShownLetter[]; isWhole: boolean }

type Parts = { kafka: KafkaConnection; db: Postgres; topicPrefix: string }

/** Opens what reads the dead letters that wait, by reason and the latest; never a value or a key. */
export function openLetters(parts: Parts) {
  let kept: { letters: Promise<Letters>; untilMs: number } | undefined
  return {
    read(): Promise<Letters> {
      if (kept === undefined || performance.now() > kept.untilMs) {
        const letters = readLettersOnce(parts)
        letters.catch(() => undefined)
        kept = { letters, untilMs: performance.now() + keptMs }
      }
      return kept.letters
    },
    /** After a replay the next page reads anew. */
    forget(): void {
      kept = undefined
    },
  }
}

async function readLettersOnce({ topicPrefix, ...parts }: Parts): Promise<Letters> {
  const byReason = new Map<string, number>()
  let latest: ShownLetter[] = []
  let count = 0
  for await (const { letters } of readWaiting(parts, topicPrefix)) {
    for (const { reason } of letters) byReason.set(reason, (byReason.get(reason) ?? 0) + 1)
    latest = [...latest, ...letters.map(shownOf)].slice(-shownLetters)
    count += letters.length
    if (count >= countedLetters) return { byReason, latest: latest.reverse(), isWhole: false }
  }
  return { byReason, latest: latest.reverse(), isWhole: true }
}

const shownOf = ({ id, reason, message, atMs }: Letter): ShownLetter => ({ id, reason, message, atMs })
