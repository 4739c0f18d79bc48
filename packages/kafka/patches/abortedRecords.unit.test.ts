import { expect, test } from 'vitest'
import { type DecodedMessage, withoutAborted } from './abortedRecords.ts'

const record = (offset: number, producerId: string, key = 'k'): DecodedMessage => ({
  offset: String(offset),
  key: Buffer.from(key),
  isControlRecord: false,
  batchContext: { producerId, inTransaction: producerId !== '-1' },
})
const marker = (offset: number, producerId: string, type: number): DecodedMessage => ({
  ...record(offset, producerId),
  key: Buffer.from([0, 0, 0, type]),
  isControlRecord: true,
})
const ABORT = 0
const COMMIT = 1

const read = (messages: DecodedMessage[], aborted: [producerId: string, firstOffset: number][]) =>
  withoutAborted({
    messages,
    abortedTransactions: aborted.map(([producerId, firstOffset]) => ({
      producerId,
      firstOffset: String(firstOffset),
    })),
  })
    .filter(({ isControlRecord }) => !isControlRecord)
    .map(({ offset }) => Number(offset))

test('records of an aborted transaction are left out, those around it stay', () => {
  const log = [
    record(0, 'a'),
    record(1, '-1'),
    record(2, 'b'),
    marker(3, 'a', ABORT),
    marker(4, 'b', COMMIT),
    record(5, 'a'),
  ]
  expect(read(log, [['a', 0]])).toEqual([1, 2, 5])
})

test('a read that begins inside two aborted transactions hands out neither', () => {
  const log = [record(10, 'b'), record(11, 'a'), marker(12, 'a', ABORT), marker(13, 'b', ABORT)]
  expect(
    read(log, [
      ['a', 3],
      ['b', 5],
    ]),
  ).toEqual([])
})

test('aborted transactions may be named in any order', () => {
  const log = [record(1, 'a'), marker(2, 'a', ABORT), record(3, 'b'), marker(4, 'b', ABORT)]
  expect(
    read(log, [
      ['b', 3],
      ['a', 1],
    ]),
  ).toEqual([])
})

test('a record whose key is four zero bytes ends no transaction', () => {
  const log = [record(0, 'a', '\0\0\0\0'), record(1, 'a'), marker(2, 'a', ABORT)]
  expect(read(log, [['a', 0]])).toEqual([])
})
