import type { BatchHeader } from './batchHeader.ts'

export type AbortedTransaction = { producerId: string; firstOffset: string }

/** Key of a control record: version 0, type 0. */
const abortKey = Buffer.alloc(4)

/**
 * Tells which batches of a read belong to aborted transactions, batch by batch in the order of the log. kafkajs's own
 * filter enters at most one aborted transaction per record, in the order in which the broker names them: a read that
 * begins inside two of them returns a record of the second.
 */
export function abortedTransactions(named: AbortedTransaction[]) {
  const upcoming = named.toSorted((a, b) => Number(a.firstOffset) - Number(b.firstOffset))
  const aborting = new Set<bigint>()
  return {
    /** Whether the records of this batch, which ends before `next`, were aborted. */
    has({ isTransactional, isControl, producerId }: BatchHeader, next: number): boolean {
      while (upcoming[0] && Number(upcoming[0].firstOffset) < next)
        aborting.add(BigInt((upcoming.shift() as AbortedTransaction).producerId))
      return isTransactional && !isControl && aborting.has(producerId)
    },
    /** A control batch ends its producer's transaction; later batches of that producer belong to another one. */
    end({ producerId }: BatchHeader, key: Buffer | null): void {
      if (key?.equals(abortKey)) aborting.delete(producerId)
    },
  }
}
