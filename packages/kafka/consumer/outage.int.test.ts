import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectForTest, newTopic, producerForTest, readForTest, textOf } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalServers, startServers } from '../../../infra/local/servers/index.ts'
import { logEnds } from '../log/logEnds.ts'
import { endOffsets } from '../log/offsets.ts'
import type { LogIdentity } from '../types.ts'

/** A broker of its own: the other tests need theirs. */
let servers: LocalServers
const dataFolder = mkdtempSync(join(tmpdir(), 'tally-kafka-outage-'))

beforeAll(async () => {
  servers = await startServers({ dataFolder, postgres: false, redis: false })
}, 120_000)

afterAll(async () => {
  await servers.stop()
  rmSync(dataFolder, { recursive: true, force: true })
})

test('a broker that is killed and comes back 12 s later is read on from, written to and asked, without a restart', async () => {
  const connection = connectForTest(servers.kafkaBrokers)
  const topic = await newTopic(connection, { partitions: 2 })
  const producer = await producerForTest(connection)
  const send = (value: string) => producer.send([{ topic, key: value, value }])
  await send('before')
  const { records, batches, consumer, crashes } = await readForTest(connection, { topics: [topic] })
  await until('it is read', () => records.length === 1)

  await servers.part('kafka').kill('SIGKILL')
  await expect(send('lost')).rejects.toThrow(`could not send to ${topic}`)
  await until(
    'the outage shows',
    () => !consumer.state().joined && consumer.state().lastError !== undefined,
    60_000,
  )
  await sleep(Math.max(0, 12_000 - consumer.state().lastFetchMs))
  expect(consumer.state().lastFetchMs).toBeGreaterThan(11_000)
  expect(crashes).toEqual([])

  await servers.part('kafka').start()
  await send('after')
  await until('it is read', () => records.some(record => textOf(record) === 'after'), 60_000)
  await until('nothing is wrong any more', () => consumer.state().joined && !consumer.state().lastError)
  expect((await endOffsets(connection, [topic])).get(topic)?.size).toBe(2)
  expect(records.map(textOf).sort()).toEqual(['after', 'before'])
  for (const partition of [0, 1]) {
    const froms = batches.filter(batch => batch.partition === partition)
    expect(froms.map(({ from }) => from)).toEqual(
      [0, ...froms.slice(0, -1).map(({ next }) => next)].slice(0, froms.length),
    )
  }
}, 180_000)

test('a consumer that starts while Kafka is down joins when Kafka is up; one that stops meanwhile does not hang', async () => {
  const connection = connectForTest(servers.kafkaBrokers)
  const topic = await newTopic(connection)
  await servers.part('kafka').kill('SIGKILL')
  const gone = await readForTest(connection, { topics: [topic] })
  const { records, consumer, crashes } = await readForTest(connection, {
    topics: [topic],
    groupId: `group-${randomUUID()}`,
  })
  await until('the outage shows', () => consumer.state().lastError !== undefined, 60_000)
  const stoppedAt = Date.now()
  await gone.consumer.stop()
  expect(Date.now() - stoppedAt).toBeLessThan(8_500)
  await servers.part('kafka').start()
  const producer = await producerForTest(connection)
  await producer.send([{ topic, key: null, value: 'a' }])
  await until('it is read', () => records.length === 1, 60_000)
  expect(crashes).toEqual([])
}, 180_000)

test('a partition that has a new leader is refused until it was checked; then it is read on', async () => {
  const connection = connectForTest(servers.kafkaBrokers)
  const topic = await newTopic(connection)
  const producer = await producerForTest(connection)
  const send = (value: string) => producer.send([{ topic, key: null, value }])
  const check = async () => (await logEnds(connection, [{ topic, partition: 0 }])).get(topic)?.get(0) ?? {}
  await send('before')
  let checked: Partial<LogIdentity> = await check()
  const refused: object[] = []
  const { records, consumer, crashes } = await readForTest(connection, {
    topics: [topic],
    identityOf: () => checked,
    onRefused: of => void refused.push(of),
  })
  await until('it is read', () => records.length === 1)

  await servers.part('kafka').kill('SIGKILL')
  await servers.part('kafka').start()
  await send('after')
  await until('it is refused', () => refused.length > 0, 60_000)
  expect(refused).toEqual([{ topic, partition: 0 }])
  expect(records.map(textOf)).toEqual(['before'])
  const { topicId, leaderEpoch = 0 } = checked
  checked = await check()
  expect(checked.topicId).toBe(topicId)
  expect(checked.leaderEpoch).toBeGreaterThan(leaderEpoch)
  consumer.resume(topic, 0)
  await until('it is read on', () => records.length === 2)
  expect(records.map(textOf)).toEqual(['before', 'after'])
  expect(crashes).toEqual([])
}, 180_000)
