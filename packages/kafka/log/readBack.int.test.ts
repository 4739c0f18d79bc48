import { deleteBefore, logOf, sendAll, textOf, texts } from '@tally/testkit/servers/kafka'
import { expect, test } from 'vitest'
import { readBack, topicLogs } from './readLog.ts'

async function given(count: number) {
  const { connection, topic } = await logOf()
  const all = Array.from({ length: count }, (_, i) => `${i}`.padEnd(200))
  await sendAll(connection, texts(topic, all))
  return { connection, topic, all, of: { topic, partition: 0 } }
}

test('every record is read once, the newest first', async () => {
  const { connection, of, all } = await given(5_000)
  const values: string[] = []
  let from = all.length
  for await (const read of readBack(connection, of, { start: 0, end: all.length }, textOf)) {
    expect(read.kept).toHaveLength(from - read.from)
    from = read.from
    values.push(...read.kept)
  }
  expect(values).toEqual(all.toReversed())
})

test('the newest of 20,000 records cost no more than a window', async () => {
  const { connection, topic, of, all } = await given(20_000)
  const [[, log] = [0, { start: 0, end: 0 }]] = await topicLogs(connection, topic)
  let read = 0
  const keep = (record: Parameters<typeof textOf>[0]) => {
    read++
    return textOf(record)
  }
  for await (const { kept } of readBack(connection, of, log, keep)) {
    expect(kept[0]).toBe(all.at(-1))
    break
  }
  expect(read).toBe(128)
})

test('records that were deleted meanwhile are passed over', async () => {
  const { connection, topic, of, all } = await given(300)
  await deleteBefore(connection, { topic, partition: 0, offset: 250 })
  const values: string[] = []
  for await (const { kept } of readBack(connection, of, { start: 0, end: 300 }, textOf)) values.push(...kept)
  expect(values).toEqual(all.slice(250).toReversed())
})
