import { type Letter, olderThan, readNewest } from '@tally/dead-letters'
import type { KafkaConnection } from '@tally/kafka'
import type { Postgres } from '@tally/storage'

/** Dead letters per page, and how many are counted by reason: reading those takes about 0.1 s. */
const shownLetters = 50
const countedLetters = 1_000
/** Replayed dead letters stay in the topic: a page ends after this many records, and the next one continues. */
const mostRead = 5_000

type ShownLetter = Pick<Letter, 'id' | 'reason' | 'message' | 'atMs'>
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
  { topicPrefix, ...deps }: { kafka: KafkaConnection; db: Postgres; topicPrefix: string },
  before: string | undefined,
): Promise<Letters> {
  const newest = await readNewest(deps, topicPrefix, { limit: countedLetters, before, mostRead })
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
