import type { KafkaRecord, RecordBatch } from '@tally/kafka'

/** Limits of a piece: records, and bytes of their values. A larger record is a piece by itself. */
export type Bounds = { records: number; bytes?: number }

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
  let end = Math.min(start + 1, records.length)
  for (; end < records.length && end - start < most.records; end++) {
    left -= records[end]?.value?.length ?? 0
    if (left < 0) break
  }
  // An empty batch is one piece, which must not start again.
  return Math.max(end, 1)
}
