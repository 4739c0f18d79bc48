import type { BatchHeader } from './batchHeader.ts'

export type AbortedTransaction = { producerId: string; firstOffset: string }

/** Key of a control record: version 0, type 0. */
const ABORT = Buffer.alloc(4)

/**
 * Tells which batches of a read are of aborted transactions, batch after batch in the order of the log. kafkajs's own filter
 * steps into at most one aborted transaction for each record, in the order in which the broker names them: a read that
 * begins inside two of them hands out a record of the second.
 */
export function abortedTransactions(named: AbortedTransaction[]) {
  const upcoming = named.toSorted((a, b) => Number(a.firstOffset) - Number(b.firstOffset))
  const aborting = new Set<bigint>()
  return {
    /** Whether the records of this batch, which ends before `next`, were taken back. */
    has({ isTransactional, isControl, producerId }: BatchHeader, next: number): boolean {
      while (upcoming[0] && Number(upcoming[0].firstOffset) < next)
        aborting.add(BigInt((upcoming.shift() as AbortedTransaction).producerId))
      return isTransactional && !isControl && aborting.has(producerId)
    },
    /** A control batch ends a transaction of its producer: what this one sends next is another. */
    end({ producerId }: BatchHeader, key: Buffer | null): void {
      if (key?.equals(ABORT)) aborting.delete(producerId)
    },
  }
}
