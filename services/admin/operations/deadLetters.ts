import { type DeadLetter, olderThan, readNewest } from '@tally/dead-letters'
import type { KafkaConnection } from '@tally/kafka'
import type { Postgres } from '@tally/platform'

/** Dead letters per page, and how many are counted by reason: reading those takes about 0.1 s. */
const shownCount = 50
const countedCount = 1_000
/** Replayed dead letters stay in the topic: a page ends after this many records, and the next one continues. */
const mostRead = 5_000

type ShownDeadLetter = Pick<DeadLetter, 'id' | 'reason' | 'message' | 'atMs'>
export type DeadLettersPage = {
  byReason: Map<string, number>
  /** The newest first. */
  shown: ShownDeadLetter[]
  /** Whether nothing newer was left out, and whether nothing older was left out. */
  isNewest: boolean
  isWhole: boolean
  /** The cursor for the page after this one, if there may be one. */
  older: string | undefined
}

/**
 * Reads a page of the dead letters that were not replayed, the newest first or those before a cursor; never a value or
 * a key. Costs the same however many dead letters the topic holds.
 */
export async function readDeadLettersPage(
  { topicPrefix, ...deps }: { kafka: KafkaConnection; db: Postgres; topicPrefix: string },
  before: string | undefined,
): Promise<DeadLettersPage> {
  const newest = await readNewest(deps, topicPrefix, { limit: countedCount, before, mostRead })
  const { entries } = newest
  const ofReasons = Map.groupBy(entries, ({ reason }) => reason)
  return {
    byReason: new Map([...ofReasons].map(([reason, of]) => [reason, of.length])),
    shown: entries.slice(0, shownCount),
    isNewest: before === undefined,
    isWhole: newest.until.size === 0,
    older: olderThan(newest, shownCount),
  }
}
