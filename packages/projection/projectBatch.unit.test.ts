import type { RecordBatch } from '@tally/kafka'
import { expect, test } from 'vitest'
import { slices } from './projectBatch.ts'

const batchOf = (offsets: number[], from: number, next: number, bytes = 0): RecordBatch => ({
  topic: 'tally.orders',
  partition: 0,
  from,
  next,
  lastStableOffset: next,
  records: offsets.map(offset => ({
    offset,
    timestampMs: 0,
    key: null,
    value: Buffer.alloc(bytes),
    headers: {},
  })),
})
const cut = (batch: RecordBatch, records: number, bytes?: number) =>
  [...slices(batch, { records, ...(bytes && { bytes }) })].map(({ from, next, records }) => ({
    from,
    next,
    offsets: records.map(({ offset }) => offset),
  }))

test('the pieces of a batch follow each other without a gap, even if offsets are missing', () => {
  expect(cut(batchOf([3, 4, 7, 9, 10], 2, 12), 2)).toEqual([
    { from: 2, next: 7, offsets: [3, 4] },
    { from: 7, next: 10, offsets: [7, 9] },
    { from: 10, next: 12, offsets: [10] },
  ])
})

test('a batch that fits is one piece, and so is one without records', () => {
  expect(cut(batchOf([3, 4], 3, 5), 2)).toEqual([{ from: 3, next: 5, offsets: [3, 4] }])
  expect(cut(batchOf([], 3, 5), 2)).toEqual([{ from: 3, next: 5, offsets: [] }])
})

test('a piece holds no more bytes than it may, but at least one record', () => {
  const pieces = cut(batchOf([0, 1, 2, 3, 4], 0, 5, 10), 100, 25)
  expect(pieces.map(({ offsets }) => offsets)).toEqual([[0, 1], [2, 3], [4]])
  expect(cut(batchOf([0, 1], 0, 2, 10), 100, 5).map(({ next }) => next)).toEqual([1, 2])
})
