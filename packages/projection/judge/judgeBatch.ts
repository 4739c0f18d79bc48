import { type Decoded, decodeRecord, type RecordOf, type RecordType, type Rejected } from '@tally/contract'
import type { RejectedAt } from '@tally/dead-letters'
import { type KafkaRecord, maxValueBytes, type RecordBatch } from '@tally/kafka'
import type { Logger } from '@tally/platform'
import type { Placed } from '../effects.ts'

export type RecordPlace = { topic: string; partition: number; offset: number }
/** Called with each error that made a record `internal`. */
export type OnInternal = (at: RecordPlace, error: unknown) => void

/** A batch with the judgement of its records. */
export type Judged = { batch: RecordBatch; good: Placed<unknown>[]; rejected: RejectedAt[] }

/**
 * Judges each record of a batch by itself: decoded, or rejected with a reason. Never throws: an error in Tally itself
 * makes that record `internal`. `verdict`, if given, replaces the judgement of all records.
 */
export function judgeBatch(
  type: RecordType,
  batch: RecordBatch,
  { onInternal, verdict }: { onInternal?: OnInternal | undefined; verdict?: Rejected | undefined },
): Judged {
  const judged: Judged = { batch, good: [], rejected: [] }
  for (const record of batch.records) {
    const { offset } = record
    const decoded = verdict ?? judge(type, batch, record, onInternal)
    if (decoded.outcome === 'decoded') judged.good.push({ offset, value: decoded.value })
    else judged.rejected.push({ offset, rejected: decoded })
  }
  return judged
}

function judge<Type extends RecordType>(
  type: Type,
  { topic, partition }: RecordBatch,
  { key, value, leftOut, offset }: KafkaRecord,
  onInternal: OnInternal | undefined,
): Decoded<RecordOf<Type>> {
  if (leftOut !== undefined) return tooLarge(leftOut)
  try {
    return decodeRecord(type, key, value)
  } catch (error) {
    onInternal?.({ topic, partition, offset }, error)
    return internal
  }
}

function tooLarge({ bytes }: NonNullable<KafkaRecord['leftOut']>): Rejected {
  const what = bytes > maxValueBytes ? `the value has ${bytes} bytes` : 'the key or the headers are larger'
  return { outcome: 'rejected', reason: 'too-large', message: `${what}: at most ${maxValueBytes} are read` }
}

/** The rejection of a record on which Tally itself failed. */
export const internal: Rejected = {
  outcome: 'rejected',
  reason: 'internal',
  message: 'Tally failed to process this record. The projector has logged the error.',
}

/** An error's message may quote the record: only its name, code and stack frames are logged. */
export function logInternal(logger: Logger, at: RecordPlace, error: unknown): void {
  const {
    name,
    code,
    stack = '',
  } = (error instanceof Error ? error : new Error()) as Error & { code?: unknown }
  const frames = stack.split('\n').filter(line => /^ +at /.test(line))
  logger.error(
    { ...at, error: name, code, frames },
    'Tally failed to process a record. It is a dead letter now.',
  )
}
