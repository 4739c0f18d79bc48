import type { RecordType, Rejected } from '@tally/contract'
import type { DeadLetters, RejectedAt } from '@tally/dead-letters'
import { TooMuchStoredError } from '@tally/figures'
import { fingerprintOf, type KafkaRecord, type RecordBatch } from '@tally/kafka'
import { type LockedOffset, lockOffsets, type ReachedOffset, storeOffsets } from '@tally/offsets'
import { isFatal, isTransient, type Postgres, type Tx } from '@tally/platform'
import { applyEvents } from './apply/events.ts'
import { applyOrders } from './apply/orders.ts'
import { applyOrganizations } from './apply/organizations.ts'
import { applyRefunds } from './apply/refunds.ts'
import { EventRoom } from './apply/room.ts'
import { type Effects, noEffects, type Placed, type Projected, type ShardPart } from './effects.ts'
import type { GroupCommit } from './groupCommit.ts'
import { internal, type Judged, judgeBatch, type OnInternal } from './judge/judgeBatch.ts'

/** `groups`: for batches of orders; without it, each of them has a transaction of its own, too. */
export type ProjectorDeps = TransactionDeps & { groups?: GroupCommit }

/**
 * Projects one batch of one partition, exactly once: judges each record, and applies the good ones in one transaction
 * (`projectJudged`), which small batches of orders share (groupCommit.ts). With a verdict, all records are rejected.
 */
export async function projectBatch(
  deps: ProjectorDeps,
  type: RecordType,
  batch: RecordBatch,
  verdict?: Rejected,
): Promise<Projected> {
  const judged = judgeBatch(type, batch, { onInternal: deps.onInternal, verdict })
  if (type === 'orders' && deps.groups !== undefined) return deps.groups.project(judged)
  const [projected] = await projectJudged(deps, type, [judged])
  return projected as Projected
}

type TransactionDeps = {
  db: Postgres
  deadLetters: DeadLetters
  onInternal?: OnInternal
  /** Called before a batch is cut because a statement took too long. If it throws, that is the failure of the batch. */
  onTimeout?: (batch: RecordBatch, error: unknown) => void
  /** What this process knows of the room of events; without it, each batch counts again. */
  room?: EventRoom
  /** Throws unless a batch comes from the log that the stored offset belongs to (services/projector/logs/state.ts). */
  verify?(batch: RecordBatch): void
  /** Whether records with these keys belong to another partition; the first such batch marks the partition for good. */
  hasMisplaced?: (batch: RecordBatch, keys: Iterable<string>) => boolean
}

type Apply = (tx: Tx, parts: ShardPart<never>[], room: EventRoom) => Promise<Effects[]>

/** Only orders of several partitions are applied together. */
const appliers: Record<RecordType, Apply> = {
  organizations: ofOne(applyOrganizations),
  events: ofOne(applyEvents),
  orders: applyOrders,
  refunds: ofOne(applyRefunds),
}

function ofOne(apply: (tx: Tx, shard: number, records: Placed<never>[]) => Promise<Effects>): Apply {
  return (tx, parts) =>
    Promise.all(
      parts.map(async ({ shard, records }) =>
        records.length === 0 ? noEffects() : apply(tx, shard, records),
      ),
    )
}

/**
 * Projects judged batches, each of another partition of one topic, in one transaction (docs/architecture.md, invariants
 * 1 to 3). Returns what was done with each. Several batches at once must be of orders. With `lockTimeoutMs`, it throws
 * if it would have to wait longer for one of its locks. After a crash at each step:
 *
 * 1. judge each record (judge/judgeBatch.ts). Crash: nothing has happened; the batches are read again.
 * 2. fence: lock the partitions' offsets. Records below them are applied already and skipped; a batch that begins above
 *    its offset makes the reader seek back. A projector that lost its partition without noticing finds that its offset
 *    no longer fits. Crash: the transaction is rolled back, and the batches are read again.
 * 3. apply: load what is known, apply, write orders, refunds, counters, revision. Crash: as in 2.
 * 4. send dead letters, while the good records are applied. Kafka has acknowledged them before the commit, so that none
 *    is lost. Crash: the batches are read again and they are sent again; readers of that topic recognize them by their
 *    offset.
 * 5. verify that each batch comes from the log that the stored offset belongs to (the topic may have been deleted and
 *    created again), store the next offsets and commit: from here on the batches are applied. Crash: the documents in
 *    Redis are one revision behind; the next owner of the partition notices that and publishes them
 *    (services/projector/publish/publisher.ts).
 */
export async function projectJudged(
  { db, deadLetters, room = new EventRoom(), verify, hasMisplaced = () => false }: TransactionDeps,
  type: RecordType,
  judged: Judged[],
  { lockTimeoutMs }: { lockTimeoutMs?: number } = {},
): Promise<Projected[]> {
  const batches = judged.map(({ batch }) => batch)
  const { topic } = batches[0] as RecordBatch
  const send = async (batch: RecordBatch, rejected: RejectedAt[]): Promise<void> => {
    if (rejected.length > 0) await deadLetters.send(batch, rejected)
  }

  const projected = await db.transaction().execute(async (tx): Promise<Projected[]> => {
    const partitions = batches.map(({ partition }) => partition)
    const offsets = await lockOffsets(tx, topic, partitions, { lockTimeoutMs }) // 2
    const fitting = judged.flatMap((one, index) => unappliedPart(one, offsets[index] as LockedOffset))

    // 4 begins here and has to end before 5
    const sending = Promise.all(fitting.map(({ batch, bad }) => send(batch, bad)))
    sending.catch(() => undefined) // awaited below, unless applying fails first
    const effects = await appliers[type](
      tx,
      fitting.map(({ part }) => part),
      room,
    ) // 3
    for (const ofBatch of effects) room.carry(ofBatch)
    await Promise.all(fitting.map(({ batch }, index) => send(batch, (effects[index] as Effects).rejected)))
    await sending

    const reached: ReachedOffset[] = []
    const done = new Map<RecordBatch, Projected>()
    for (const [index, { batch, bad, since, isAdded }] of fitting.entries()) {
      const ofBatch = effects[index] as Effects
      const isMarked = !isAdded && hasMisplaced(batch, ofBatch.events.keys())
      verify?.(batch) // 5
      reached.push(reachedBy(batch, ofBatch.revision, isMarked))
      const rejected = ofBatch.rejected.concat(bad)
      done.set(batch, { next: batch.next, effects: { ...ofBatch, rejected, since }, hasMisplaced: isMarked })
    }
    if (reached.length > 0) await storeOffsets(tx, topic, reached)
    return batches.map(
      (batch, index) =>
        done.get(batch) ?? { next: (offsets[index] as LockedOffset).next, effects: undefined },
    )
  })
  for (const [index, batch] of batches.entries()) {
    const { next, effects } = projected[index] as Projected
    // Without effects, a commit whose answer was lost may have rejected some.
    if (effects === undefined || effects.rejected.length > 0) deadLetters.committed(batch, next)
  }
  return projected
}

/** What of a batch is not applied yet; empty if the batch does not fit the stored offset. */
function unappliedPart(
  { batch, good, rejected }: Judged,
  { next: stored, revision: since, isAdded }: LockedOffset,
) {
  if (batch.from > stored || batch.next <= stored) return []
  const part = {
    shard: batch.partition,
    records: good.filter(({ offset }) => offset >= stored) as Placed<never>[],
  }
  return [{ batch, part, bad: rejected.filter(({ offset }) => offset >= stored), since, isAdded }]
}

function reachedBy(batch: RecordBatch, revision: number | undefined, isAdded: boolean): ReachedOffset {
  const last = batch.records.at(-1)
  return {
    partition: batch.partition,
    next: batch.next,
    revision,
    last: last && { fingerprint: fingerprintOf(last), offset: last.offset },
    isAdded,
  }
}

/**
 * Projects a batch, in one piece if nothing fails; otherwise it is cut (`cutFor`) until the record that causes an error
 * is alone, which is rejected as `internal`. Calls `done` after each piece. Returns the offset to read next. Throws
 * every other error.
 */
export async function projectPieces(
  deps: ProjectorDeps,
  type: RecordType,
  batch: RecordBatch,
  done: (piece: RecordBatch, projected: Projected) => void,
): Promise<number> {
  const settle = (projected: Projected): number => {
    done(batch, projected)
    return projected.next
  }
  try {
    return settle(await projectBatch(deps, type, batch))
  } catch (error) {
    const pieces = cutFor(error, batch)
    if (pieces === undefined) throw error
    if (isTimeout(error)) deps.onTimeout?.(batch, error)
    if (pieces === 1) {
      const { topic, partition, records } = batch
      const projected = await projectBatch(deps, type, batch, internal)
      deps.onInternal?.({ topic, partition, offset: (records[0] as KafkaRecord).offset }, error)
      return settle(projected)
    }
    let next = batch.from
    for (const piece of slices(batch, { records: Math.ceil(batch.records.length / pieces) })) {
      next = await projectPieces(deps, type, piece, done)
      if (next !== piece.next) break
    }
    return next
  }
}

/**
 * Into how many pieces a batch that fails with this error is cut: 1 if its only record is the cause, undefined if none
 * is. Many at once if it was too much work: each level of halving would take as long, or read everything again.
 */
function cutFor(error: unknown, { records: { length } }: RecordBatch): number | undefined {
  if (length > 1 && (isTimeout(error) || error instanceof TooMuchStoredError)) return 16
  return length === 0 || !isOfRecord(error) ? undefined : Math.min(length, 2)
}

/** The statement timeout: 10,000 refunds of stored orders of 1.8 MB reach 30 s each time, a few do not. */
const isTimeout = (error: unknown): boolean => (error as { code?: unknown } | undefined)?.code === '57014'

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

/** Limits of a piece: records, and bytes of their values. A larger record is a piece by itself. */
type Bounds = { records: number; bytes?: number }

/**
 * Cuts a batch into pieces, in order and without gaps: a batch that compresses well can be far larger than one
 * transaction should be. A batch without records is one piece.
 */
export function* slices(batch: RecordBatch, most: Bounds): Generator<RecordBatch> {
  let from = batch.from
  for (let index = 0; index === 0 || index < batch.records.length; ) {
    const end = endOfPiece(batch.records, index, most)
    const next = batch.records[end]?.offset ?? batch.next
    yield { ...batch, from, next, records: batch.records.slice(index, end) }
    from = next
    index = end
  }
}

function endOfPiece(records: KafkaRecord[], start: number, most: Bounds): number {
  const { bytes = Number.POSITIVE_INFINITY } = most
  let left = bytes - (records[start]?.value?.length ?? 0)
  // Also for an empty batch, which is one piece and must not start again.
  let end = start + 1
  for (; end < records.length && end - start < most.records; end++) {
    left -= records[end]?.value?.length ?? 0
    if (left < 0) break
  }
  return end
}
