import { randomBytes } from 'node:crypto'
import { connectForTest, logOf, newTopic, readForTest, sendAll } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'
import { inside } from '../client/connection.ts'
import { kafkajs } from '../client/kafkajs.ts'

const { None, ZSTD } = kafkajs.CompressionTypes
const values = Array.from({ length: 300 }, (_, i) =>
  i % 3 === 0
    ? randomBytes(400 + i)
    : Buffer.from(JSON.stringify({ orderId: `A-${i}`, note: 'x'.repeat(i * 10) })),
)

/** The broker compresses each batch again, so what is read was compressed by Kafka's own Java code. */
test.each(['gzip', 'snappy', 'lz4', 'zstd', 'uncompressed'])(
  'what the broker packed as %s is read',
  async type => {
    const connection = connectForTest()
    const topic = await newTopic(connection, { config: { 'compression.type': type } })
    await sendAll(
      connection,
      values.map(value => ({ topic, key: null, value })),
    )
    const reading = await readForTest(connection, { topics: [topic] })
    await until('all are read', () => reading.records.length === values.length)
    expect(reading.records.map(({ value }) => value)).toEqual(values)
  },
)

/** The broker unpacks each batch to pack it with another codec, so sending takes ours to Kafka's own Java code. */
test.each([
  ['zstd', ZSTD, 'gzip'],
  ['nothing', None, 'gzip'],
])('what was packed here as %s is read by the broker', async (_, compression, brokerType) => {
  const { connection, topic } = await logOf([], { config: { 'compression.type': brokerType } })
  const producer = inside(connection).kafka.producer()
  await producer.connect()
  await producer.send({ topic, compression, messages: values.map(value => ({ key: null, value })) })
  await producer.disconnect()
  const reading = await readForTest(connection, { topics: [topic] })
  await until('all are read', () => reading.records.length === values.length)
  expect(reading.records.map(({ value }) => value)).toEqual(values)
})
