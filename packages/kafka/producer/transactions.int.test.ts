import {
  beginTransaction,
  logOf,
  readForTest,
  sendAll,
  startAt,
  textOf,
  texts,
} from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'
import type { RecordBatch } from '../types.ts'

test('control records and aborted transactions leave no gap between batches', async () => {
  const { connection, topic } = await logOf(['plain'])
  const transact = async (values: string[], end: 'commit' | 'abort') => {
    const transaction = await beginTransaction(connection)
    for (const value of values) await transaction.send({ topic, messages: [{ key: null, value }] })
    await transaction[end]()
  }
  await transact(['committed 1', 'committed 2'], 'commit')
  await transact(['aborted 1', 'aborted 2'], 'abort')
  const { records, batches } = await readForTest(connection, { topics: [topic] })
  await until('all up to the last control record is accounted for', () => batches.at(-1)?.next === 7)
  expect(records.map(textOf)).toEqual(['plain', 'committed 1', 'committed 2'])
  expectNoGaps(batches)

  await transact(['aborted 3'], 'abort')
  await until('a read of aborted records only arrives as an empty batch', () => batches.at(-1)?.next === 9)
  expect(records).toHaveLength(3)
  await sendAll(connection, texts(topic, ['after']))
  await until('the record after them is read', () => records.length === 4)
  expect(records.at(-1)?.offset).toBe(9)
  expectNoGaps(batches)
})

test('reading that begins inside two transactions hands out nothing of either once they are aborted', async () => {
  const { connection, topic } = await logOf()
  const [first, second] = [await beginTransaction(connection), await beginTransaction(connection)]
  const messages = [{ key: null, value: 'x' }]
  for (const transaction of [first, second, second, first]) await transaction.send({ topic, messages })
  await first.abort()
  await second.abort()
  const { records, batches } = await readForTest(connection, {
    topics: [topic],
    onAssigned: () => startAt(topic, 2),
  })
  await until('all is accounted for', () => batches.at(-1)?.next === 6)
  expect(batches[0]?.from).toBe(2)
  expect(records).toEqual([])
})

function expectNoGaps(batches: RecordBatch[]): void {
  expect(batches.map(({ from }) => from)).toEqual([0, ...batches.slice(0, -1).map(({ next }) => next)])
}
