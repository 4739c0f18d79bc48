import { isDeadLetterId } from '@tally/dead-letters'
import { UsageError } from '../../failure.ts'
import { counted, remark } from '../../output.ts'

/** An id of `tally dead-letters list`; throws a UsageError if it cannot be one. */
export function deadLetterIdOf(text: string): string {
  if (isDeadLetterId(text)) return text
  throw new UsageError(
    `a dead letter's ID is <topic>-<partition>-<offset>, such as tally.orders-3-1204, got ${JSON.stringify(text)}`,
  )
}

/** Warns on stderr if records of the topic were not written by Tally. */
export function warnOfForeign(count: number): void {
  if (count === 0) return
  remark(`tally: left out ${counted(count, 'record')} of the dead-letter topic that Tally did not put there`)
}
