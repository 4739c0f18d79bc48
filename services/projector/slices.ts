import type { RecordBatch } from '@tally/kafka'

/**
 * Cuts a batch into pieces of at most `most` records, in order and without a gap: what Kafka packs well can be far
 * more than one transaction should hold. A batch without records is one piece.
 */
export function* slices(batch: RecordBatch, most: number): Generator<RecordBatch> {
  let from = batch.from
  for (let index = 0; index === 0 || index < batch.records.length; index += most) {
    const following = batch.records[index + most]
    const next = following === undefined ? batch.next : following.offset
    yield { ...batch, from, next, records: batch.records.slice(index, index + most) }
    from = next
  }
}
