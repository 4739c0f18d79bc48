import { randomBytes } from 'node:crypto'
import {
  beginTransaction,
  logOf,
  newTopic,
  producerForTest,
  readForTest,
  sendAll,
  startAt,
  textOf,
  texts,
} from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { expect, test, vi } from 'vitest'
import { KafkaSendError } from '../errors.ts'
import type { RecordBatch } from '../types.ts'

test('key, value and headers come out as they went in: null, binary, repeated, and names that objects have', async () => {
  const { connection, topic } = await logOf()
  const producer = await producerForTest(connection)
  const bytes = randomBytes(40)
  const headers = Object.assign(Object.create(null), {
    none: null,
    empty: '',
    bytes,
    twice: ['a', null, bytes],
    constructor: 'c',
    toString: ['t', 'u'],
  })
  Object.defineProperty(headers, '__proto__', { value: 'p', enumerable: true })
  await producer.send([
    { topic, key: null, value: null, headers },
    { topic, key: bytes, value: '' },
  ])

  const { records } = await readAll(connection, topic, 2)
  expect(records[0]).toMatchObject({ offset: 0, key: null, value: null })
  const came = records[0]?.headers ?? {}
  expect(Object.keys(came)).toEqual(Object.keys(headers))
  expect(came.none).toBeNull()
  expect(came.bytes).toEqual(bytes)
  expect(came.twice).toEqual([Buffer.from('a'), null, bytes])
  expect(came.constructor).toEqual(Buffer.from('c'))
  expect(came.toString).toEqual([Buffer.from('t'), Buffer.from('u')])
  expect(Object.getOwnPropertyDescriptor(came, '__proto__')?.value).toEqual(Buffer.from('p'))
  expect(records[1]).toMatchObject({ offset: 1, key: bytes, value: Buffer.alloc(0) })
  expect(Math.abs((records[0]?.timestampMs ?? 0) - Date.now())).toBeLessThan(60_000)

  await producer.send([{ topic, key: null, value: null, headers: came }])
  const again = await readAll(connection, topic, 3)
  expect(again.records[2]?.headers).toEqual(came)
})

test('a record of 1 MiB with headers fits a topic for dead letters, and many small ones are split', async () => {
  const { connection, topic } = await logOf([], { config: { 'max.message.bytes': '2097152' } })
  const small = await newTopic(connection)
  const producer = await producerForTest(connection)
  const value = randomBytes(1024 * 1024)
  await producer.send([
    ...Array.from({ length: 3_000 }, (_, i) => ({ topic: small, key: null, value: `${i}`.padEnd(2_000) })),
    { topic, key: 'k', value, headers: { 'tally.reason': 'schema', big: randomBytes(50_000) } },
  ])
  expect((await readAll(connection, topic, 1)).records[0]?.value?.equals(value)).toBe(true)
  const { records } = await readAll(connection, small, 3_000)
  expect(records.map(record => Number(textOf(record)))).toEqual(Array.from({ length: 3_000 }, (_, i) => i))
})

test.each([3_000, 8_000])('%i records of many requests come in their order', async count => {
  const { connection, topic } = await logOf()
  const producer = await producerForTest(connection)
  await producer.send(Array.from({ length: count }, (_, i) => ({ topic, key: 'k', value: `${i}` })))
  const { records } = await readAll(connection, topic, count)
  expect(records.map(record => Number(textOf(record)))).toEqual(Array.from({ length: count }, (_, i) => i))
})

test('a record goes to the partition that is named', async () => {
  const { connection, topic } = await logOf([], { partitions: 3 })
  const producer = await producerForTest(connection)
  await producer.send([{ topic, key: 'k', value: 'v', partition: 2 }])
  expect((await readAll(connection, topic, 1)).batches[0]?.partition).toBe(2)
})

test('what cannot be sent is an error that names the topic', async () => {
  const { connection, topic } = await logOf()
  const producer = await producerForTest(connection)
  const tooLarge = producer.send([{ topic, key: null, value: randomBytes(3_000_000) }])
  await expect(tooLarge).rejects.toThrow(KafkaSendError)
  await expect(tooLarge).rejects.toThrow(
    `could not send to ${topic}: a record is larger than the topic takes (max.message.bytes): run \`tally doctor\``,
  )
})

async function readAll(connection: Parameters<typeof readForTest>[0], topic: string, count: number) {
  const reading = await readForTest(connection, { topics: [topic] })
  await until(`${count} records are read`, () => reading.records.length >= count)
  return reading
}

test('records that their topic refuses for their size arrive once each, in order, too large ones made smaller', async () => {
  const { connection, topic } = await logOf([], { config: { 'max.message.bytes': '2000' } })
  const producer = await producerForTest(connection)
  const texts = Array.from({ length: 20 }, (_, i) =>
    i % 5 === 3 ? randomBytes(3000).toString('hex') : `v${i}`,
  )
  const records = texts.map(value => ({ topic, key: null, value }))
  await producer.send(records, record => ({ ...record, value: `${record.value?.length} characters` }))
  const { records: came } = await readAll(connection, topic, texts.length)
  expect(came.map(textOf)).toEqual(texts.map(text => (text.length > 10 ? '6000 characters' : text)))
  await expect(producer.send(records)).rejects.toThrow(KafkaSendError)
})

test('records of a host whose clock is two hours ahead arrive with a time that Kafka took before', async () => {
  const { connection, topic } = await logOf()
  const producer = await producerForTest(connection)
  const acceptedMs = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => acceptedMs + 2 * 3_600_000)
  try {
    const record = { topic, key: null, value: 'v' }
    await producer.send([
      { ...record, acceptedMs: acceptedMs + 1 },
      { ...record, acceptedMs },
    ])
    await expect(producer.send([record])).rejects.toThrow(KafkaSendError)
  } finally {
    vi.restoreAllMocks()
  }
  const { records } = await readAll(connection, topic, 2)
  expect(records.map(({ timestampMs }) => timestampMs)).toEqual([acceptedMs, acceptedMs])
})

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
