import type { RecordType, Rejected } from '@tally/contract'
import type { DeadLetters } from '@tally/dead-letters'
import { fingerprintOf, type RecordBatch } from '@tally/kafka'
import { lockOffset, storeOffset } from '@tally/read-models'
import type { Postgres, Tx } from '@tally/storage'
import { applyEvents } from './apply/events.ts'
import { applyOrders } from './apply/orders.ts'
import { applyOrganizations } from './apply/organizations.ts'
import { applyRefunds } from './apply/refunds.ts'
import { type Effects, noEffects, type Placed } from './effects.ts'
import { judgeBatch, type OnInternal } from './judge.ts'

const appliers: Record<RecordType, (tx: Tx, shard: number, records: Placed<never>[]) => Promise<Effects>> = {
  organizations: applyOrganizations,
  events: applyEvents,
  orders: applyOrders,
  refunds: applyRefunds,
}

export type ProjectorDeps = {
  db: Postgres
  deadLetters: DeadLetters
  onInternal?: OnInternal
  /**
   * Throws unless the batch comes from the log that the stored offset belongs to (logs/openLogs.ts).
   */
  verify?(batch: RecordBatch): void
  /** Whether records with these keys belong to another partition; the first such batch marks the partition for good. */
  hasForeign?: (batch: RecordBatch, keys: Iterable<string>) => boolean
}

/**
 * `next`: the offset to read next. `effects` is undefined if the batch did not fit the stored offset. `isForeign`: this
 * batch marked the partition.
 */
export type Projected = { next: number; effects: Effects | undefined; isForeign?: boolean }

/**
 * Projects one batch of one partition, exactly once (docs/architecture.md, invariants 1 to 3). After a crash at each
 * step:
 *
 * 1. judge each record. Crash: nothing has happened; the batch is read again.
 * 2. fence: lock the partition's offset. Records below it are applied already and skipped; a batch that begins above it
 *    makes the reader seek back. A projector that lost its partition without noticing finds that its offset no longer
 *    fits. Crash: the transaction is rolled back, and the batch is read again.
 * 3. apply: load what is known, apply, write orders, refunds, counters, revision. Crash: as in 2.
 * 4. send dead letters, while the good records are applied. Kafka has acknowledged them before the commit, so that none
 *    is lost. Crash: the batch is read again and they are sent again; readers of that topic recognize them by their
 *    offset.
 * 5. verify that the batch comes from the log that the stored offset belongs to (the topic may have been deleted and
 *    created again), store the next offset and commit: from here on the batch is applied. Crash: the documents in Redis
 *    are one revision behind; the next owner of the partition notices that and publishes them
 *    (services/projector/publish/publisher.ts).
 */
export async function projectBatch(
  { db, deadLetters, verify, onInternal, hasForeign = () => false }: ProjectorDeps,
  type: RecordType,
  batch: RecordBatch,
  verdict?: Rejected,
): Promise<Projected> {
  const { good, rejected } = judgeBatch(type, batch, { onInternal, verdict }) // 1

  const projected = await db.transaction().execute(async tx => {
    const { next: stored, revision: since, isAdded } = await lockOffset(tx, batch.topic, batch.partition) // 2
    if (batch.from > stored || batch.next <= stored) return { next: stored, effects: undefined }
    const fresh = good.filter(({ offset }) => offset >= stored)
    const bad = rejected.filter(({ offset }) => offset >= stored)

    const sending = deadLetters.send(batch, bad) // 4 begins here and has to end before 5
    sending.catch(() => undefined) // awaited below, unless applying fails first
    // 3; each applier gets its own type's records, because `type` has decoded them
    const effects =
      fresh.length === 0 ? noEffects() : await appliers[type](tx, batch.partition, fresh as Placed<never>[])
    await deadLetters.send(batch, effects.rejected)
    await sending
    effects.rejected = effects.rejected.concat(bad)

    const isForeign = !isAdded && hasForeign(batch, effects.events.keys())
    verify?.(batch) // 5
    const last = batch.records.at(-1)
    await storeOffset(tx, {
      topic: batch.topic,
      partition: batch.partition,
      next: batch.next,
      revision: effects.revision,
      last: last && { fingerprint: fingerprintOf(last), offset: last.offset },
      isAdded: isForeign,
    })
    return { next: batch.next, effects: { ...effects, since }, isForeign }
  })
  deadLetters.committed(batch, projected.next)
  return projected
}
