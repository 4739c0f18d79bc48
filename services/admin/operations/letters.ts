import { type Letter, olderThan, readNewest } from '@tally/dead-letters'
import type { KafkaConnection } from '@tally/kafka'
import type { Postgres } from '@tally/storage'

/** Dead letters of a page, and at how many the count by reason ends: reading them takes some 0.1 s. */
const shownLetters = 50
const countedLetters = 1_000
/** Replayed dead letters stay in the topic: past this many records a page ends, and the next one reads on. */
const mostRead = 5_000

export type ShownLetter = Pick<Letter, 'id' | 'reason' | 'message' | 'atMs'>
export type Letters = {
  byReason: Map<string, number>
  /** The newest first. */
  shown: ShownLetter[]
  /** Whether nothing newer was left out, and whether nothing older was left out. */
  isNewest: boolean
  isWhole: boolean
  /** The cursor for the page after this one, if there may be one. */
  older: string | undefined
}

/**
 * Reads a page of the dead letters that were not replayed, the newest first or those before a cursor; never a value or a
 * key. Costs the same however many dead letters the topic holds.
 */
export async function readLettersPage(
  { topicPrefix, ...parts }: { kafka: KafkaConnection; db: Postgres; topicPrefix: string },
  before: string | undefined,
): Promise<Letters> {
  const newest = await readNewest(parts, topicPrefix, { limit: countedLetters, before, mostRead })
  const { letters } = newest
  const ofReasons = Map.groupBy(letters, ({ reason }) => reason)
  return {
    byReason: new Map([...ofReasons].map(([reason, of]) => [reason, of.length])),
    shown: letters.slice(0, shownLetters),
    isNewest: before === undefined,
    isWhole: newest.until.size === 0,
    older: olderThan(newest, shownLetters),
  }
}
