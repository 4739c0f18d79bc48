import type { OutgoingRecord, TopicNames } from '@tally/kafka'
import type { DeadLetter } from './deadLetter.ts'
import { added } from './headers.ts'
import type { Refused } from './original.ts'

/** The reason of a dead letter for offsets that an operator skipped: there is nothing to replay. */
const givenUp = new Set(['gap', 'recreated', 'skipped'])

/** The dead letter for offsets that `tally offsets` skipped, from `offset` on; the message names all of them. */
export function skippedDeadLetter(
  names: TopicNames,
  of: { topic: string; partition: number; offset: number },
  { reason, message }: { reason: 'gap' | 'recreated' | 'skipped'; message: string },
): OutgoingRecord {
  const headers = {
    [added.reason]: reason,
    [added.topic]: of.topic,
    [added.partition]: String(of.partition),
    [added.offset]: String(of.offset),
    [added.message]: message,
  }
  return { topic: names.deadLetters, key: null, value: null, headers }
}

/** Why a dead letter can never be replayed, whatever its topic holds, or undefined. */
export function whyNeverReplayed({ id, reason, leftOut, value }: DeadLetter): Refused | undefined {
  if (value !== null || leftOut !== undefined || !givenUp.has(reason)) return undefined
  return { id, why: 'it stands for offsets that `tally offsets` skipped, and holds no record' }
}
