import { createRequire } from 'node:module'
import { zstdCompressSync } from 'node:zlib'
import { connectForTest, newTopic, readForTest, sendAll, textOf, texts } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { expect, inject, onTestFinished, test } from 'vitest'
import { inside } from '../client/connection.ts'
import { kafkajs } from '../client/kafkajs.ts'
import { UndecodableBatchError } from '../errors.ts'

const brokers = inject('servers').kafkaBrokers
const damagedText = 'to be damaged on its way'

type Connection = { processData(bytes: Buffer): unknown }
const connectionOf: Connection = createRequire(import.meta.url)('kafkajs/src/network/connection.js').prototype

/** Damages a byte of each record with that text on its way from the broker, until `mend` is called. */
function damage(): { mend(): void } {
  const { processData } = connectionOf
  const mend = (): void => void Object.assign(connectionOf, { processData })
  Object.assign(connectionOf, {
    processData(this: Connection, bytes: Buffer) {
      for (let at = bytes.indexOf(damagedText); at >= 0; at = bytes.indexOf(damagedText, at + 1))
        bytes[at] = 0x54
      return processData.call(this, bytes)
    },
  })
  onTestFinished(mend)
  return { mend }
}

test('a damaged batch stops only its own partition, after the records before it, and is read once it is intact again', async () => {
  const connection = connectForTest(brokers)
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
  const connection = connectForTest(brokers)
  const topic = await newTopic(connection)
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
