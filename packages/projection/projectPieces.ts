import type { RecordType } from '@tally/contract'
import type { RecordBatch } from '@tally/kafka'
import { isFatal, isTransient } from '@tally/platform'
import { internal } from './judge/judgeBatch.ts'
import { type ProjectorDeps, projectBatch } from './projectBatch.ts'
import type { Projected } from './projectJudged.ts'
import { slices } from './slices.ts'

/**
 * Projects a batch, in one piece if nothing fails. If applying or writing it fails because of a record's content, the
 * batch is halved until the failing record is alone: that one is rejected as `internal`. Calls `done` after each piece.
 * Returns the offset to read next. Throws every other error.
 */
export async function projectPieces(
  deps: ProjectorDeps,
  type: RecordType,
  batch: RecordBatch,
  done: (piece: RecordBatch, projected: Projected) => void,
): Promise<number> {
  try {
    const projected = await projectBatch(deps, type, batch)
    done(batch, projected)
    return projected.next
  } catch (error) {
    const [record] = batch.records
    if (record === undefined || !isOfRecord(error)) throw error
    if (batch.records.length > 1) return projectHalves(deps, type, batch, done)
    const { topic, partition } = batch
    const projected = await projectBatch(deps, type, batch, internal)
    deps.onInternal?.({ topic, partition, offset: record.offset }, error)
    done(batch, projected)
    return projected.next
  }
}

async function projectHalves(
  ...[deps, type, batch, done]: Parameters<typeof projectPieces>
): Promise<number> {
  let next = batch.from
  for (const half of slices(batch, { records: Math.ceil(batch.records.length / 2) })) {
    next = await projectPieces(deps, type, half, done)
    if (next !== half.next) break
  }
  return next
}

/**
 * SQLSTATEs that the content of a row can cause (cardinality, data, constraint, program limit), and Node's codes of
 * values that this program's code did not expect; Node's others are those of connections.
 */
const codesOfRecords =
  /^(21|22|23|54)...$|^ERR_(OUT_OF_RANGE|BUFFER_OUT_OF_BOUNDS|INVALID_ARG_(TYPE|VALUE)|STRING_TOO_LONG)$/

/** Whether the record itself may be the cause: a value that Postgres refuses, or an error in this program's code. */
function isOfRecord(error: unknown): boolean {
  if (!(error instanceof Error) || isTransient(error) || isFatal(error)) return false
  const { code } = error as { code?: unknown }
  return code === undefined || (typeof code === 'string' && codesOfRecords.test(code))
}
