import { createRequire } from 'node:module'
import { zstdCompressSync } from 'node:zlib'
import {
  connectForTest,
  logOf,
  newTopic,
  onAnswers,
  readForTest,
  sendAll,
  textOf,
  texts,
} from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { expect, onTestFinished, test } from 'vitest'
import { inside } from '../client/connection.ts'
import { kafkajs } from '../client/kafkajs.ts'
import { UndecodableBatchError } from '../errors.ts'
import type { Answered } from '../log/fetch.ts'
import { readBack, readRecordAt, readTopic } from '../log/readLog.ts'

const damagedText = 'to be damaged on its way'

/** Damages a byte of each record with that text on its way from the broker, in so many answers or until `mend`. */
function damage(times = Number.POSITIVE_INFINITY): { mend(): void; happened(): boolean } {
  let left = times
  const mend = onAnswers(bytes => {
    const first = left > 0 ? bytes.indexOf(damagedText) : -1
    if (first >= 0) left--
    for (let at = first; at >= 0; at = bytes.indexOf(damagedText, at + 1)) bytes[at] = 0x54
  })
  return { mend, happened: () => left === 0 }
}

type Sending = { send(of: { request: { apiName: string } }): Promise<unknown> }
const pool: Sending = createRequire(import.meta.url)('kafkajs/src/network/connectionPool.js').prototype

/** The first answer with records has a high watermark from before them, as of a broker that is written to meanwhile. */
function reportOnce(highWatermark: number): { happened(): boolean } {
  const { send } = pool
  let isReported = false
  const mend = (): void => void Object.assign(pool, { send })
  Object.assign(pool, {
    async send(this: Sending, of: { request: { apiName: string } }) {
      const answer = await send.call(this, of)
      if (of.request.apiName !== 'Fetch') return answer
      const late = (answer as { partitions: Answered[] }).partitions.find(
        one => !isReported && one.highWatermark > highWatermark,
      )
      if (late !== undefined) {
        late.highWatermark = highWatermark
        isReported = true
      }
      return answer
    },
  })
  onTestFinished(mend)
  return { happened: () => isReported }
}

async function all<T>(reads: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const read of reads) found.push(read)
  return found
}

const faults = [
  ['lies beyond a high watermark from before it', () => reportOnce(1)],
  ['was damaged on its way once', () => damage(1)],
] as const

test.each(faults)('a batch that %s is fetched again, and nothing is reported', async (_, begin) => {
  const { connection, topic } = await logOf(['a'])
  await sendAll(connection, texts(topic, [damagedText]))
  const errors: unknown[] = []
  const { happened } = begin()
  const reading = await readForTest(connection, { topics: [topic] })
  await until('both are read', () => {
    errors.push(...reading.consumer.state().batchErrors)
    return reading.records.length === 2
  })
  expect([happened(), reading.records.map(textOf), errors]).toEqual([true, ['a', damagedText], []])
})

test.each(faults)('reads outside of a group fetch a batch that %s again, too', async (_, begin) => {
  const { connection, topic } = await logOf()
  const of = { topic, partition: 0 }
  await sendAll(connection, texts(topic, ['a']))
  await sendAll(connection, texts(topic, [damagedText]))
  const reads = [
    async () => (await all(readTopic(connection, topic))).flatMap(({ records }) => records),
    async () => {
      const windows = await all(readBack(connection, of, { start: 0, end: 2 }, record => record))
      return windows.flatMap(({ kept }) => kept).reverse()
    },
    async () => [{ value: Buffer.from('a') }, (await readRecordAt(connection, of, 1)) ?? { value: null }],
  ]
  for (const read of reads) {
    const { happened } = begin()
    expect([(await read()).map(textOf), happened()]).toEqual([['a', damagedText], true])
  }
})

test('a batch that a second fetch finds damaged too is reported by reads outside of a group', async () => {
  const { connection, topic } = await logOf([damagedText])
  damage(2)
  await expect(all(readTopic(connection, topic))).rejects.toThrow(UndecodableBatchError)
})

test('a damaged batch stops only its own partition, after the records before it, and is read once it is intact again', async () => {
  const connection = connectForTest()
  const [topic, other] = [await newTopic(connection, { partitions: 2 }), await newTopic(connection)]
  await sendAll(connection, texts(topic, ['a', 'b'], 0))
  await sendAll(connection, texts(topic, [damagedText, damagedText], 0))
  await sendAll(connection, texts(topic, ['e'], 0))
  await sendAll(connection, [...texts(topic, ['x'], 1), ...texts(other, ['y'])])
  const { mend } = damage()
  const reading = await readForTest(connection, { topics: [topic, other] })
  const read = () => reading.records.map(textOf).sort()

  await until('all that can be read is read', () => read().join() === 'a,b,x,y')
  await until('the error is known', () => reading.consumer.state().lastError !== undefined)
  const { lastError } = reading.consumer.state()
  expect(lastError).toBeInstanceOf(UndecodableBatchError)
  expect(lastError).toMatchObject({ topic, partition: 0, from: 2, to: 4 })
  await sendAll(connection, [...texts(topic, ['x2'], 1), ...texts(other, ['y2'])])
  await until('others go on', () => read().join() === 'a,b,x,x2,y,y2')
  expect(reading.crashes).toEqual([])

  mend()
  await until('all is read', () => reading.records.length === 9)
  expect(reading.records.filter(record => textOf(record) === damagedText)).toHaveLength(2)
  await until('there is no error', () => reading.consumer.state().lastError === undefined)
})

test('a batch of several Zstandard frames, which brokers take, is read whole', async () => {
  const { connection, topic } = await logOf()
  const { ZSTD } = kafkajs.CompressionTypes
  const usual = kafkajs.CompressionCodecs[ZSTD]
  kafkajs.CompressionCodecs[ZSTD] = () => ({
    compress: async ({ buffer }: { buffer: Buffer }) =>
      Buffer.concat([buffer.subarray(0, 100), buffer.subarray(100)].map(part => zstdCompressSync(part))),
    decompress: async (bytes: Buffer) => bytes,
  })
  onTestFinished(() => void Object.assign(kafkajs.CompressionCodecs, { [ZSTD]: usual }))
  const producer = inside(connection).kafka.producer()
  await producer.connect()
  const values = Array.from({ length: 50 }, (_, i) => `value ${i}`)
  await producer.send({ topic, compression: ZSTD, messages: values.map(value => ({ value })) })
  await producer.disconnect()
  const reading = await readForTest(connection, { topics: [topic] })
  await until('all are read', () => reading.records.length === values.length)
  expect(reading.records.map(textOf)).toEqual(values)
})
