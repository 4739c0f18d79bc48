import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectForTest, newTopic, producerForTest, readForTest, textOf } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalServers, startServers } from '../../../infra/local/servers/index.ts'
import type { KafkaConnection } from '../client/connection.ts'
import { endOffsets, logEnds } from '../log/logEnds.ts'
import type { LogIdentity } from '../types.ts'

/** A broker of its own: the other tests need theirs. */
let servers: LocalServers
const dataFolder = mkdtempSync(join(tmpdir(), 'tally-kafka-outage-'))

beforeAll(async () => {
  servers = await startServers({ dataFolder, brief: true, postgres: false, redis: false })
})

afterAll(async () => {
  await servers.stop()
  rmSync(dataFolder, { recursive: true, force: true })
})

type Part = { during?: () => Promise<void>; after: () => Promise<void> }

/** What runs when the broker is lost is read on from, written to and asked, without a restart. */
async function goOn(): Promise<Part> {
  const connection = connectForTest(servers.kafkaBrokers)
  const topic = await newTopic(connection, { partitions: 2 })
  const producer = await producerForTest(connection)
  const send = (value: string) => producer.send([{ topic, key: value, value }])
  await send('before')
  const { records, batches, consumer, crashes } = await readForTest(connection, { topics: [topic] })
  await until('it is read', () => records.length === 1)
  return {
    async during() {
      await expect(send('lost')).rejects.toThrow(`could not send to ${topic}`)
      const isLost = () => !consumer.state().joined && consumer.state().lastError !== undefined
      await until('the outage shows', isLost)
      await until('it is longer than a session', () => consumer.state().lastFetchMs > 11_000)
      expect(crashes).toEqual([])
    },
    async after() {
      await send('after')
      await until('it is read', () => records.some(record => textOf(record) === 'after'))
      await until('nothing is wrong any more', () => consumer.state().joined && !consumer.state().lastError)
      expect((await endOffsets(connection, [topic])).get(topic)?.size).toBe(2)
      expect(records.map(textOf).sort()).toEqual(['after', 'before'])
      for (const partition of [0, 1]) {
        const froms = batches.filter(batch => batch.partition === partition)
        expect(froms.map(({ from }) => from)).toEqual(
          [0, ...froms.slice(0, -1).map(({ next }) => next)].slice(0, froms.length),
        )
      }
    },
  }
}

/** A consumer that starts while Kafka is down joins when Kafka is up; one that stops meanwhile does not hang. */
async function startMeanwhile(connection: KafkaConnection, topic: string): Promise<Part> {
  const gone = await readForTest(connection, { topics: [topic] })
  const groupId = `group-${randomUUID()}`
  const { records, consumer, crashes } = await readForTest(connection, { topics: [topic], groupId })
  return {
    async during() {
      await until('the outage shows', () => consumer.state().lastError !== undefined)
      const stoppedAt = Date.now()
      await gone.consumer.stop()
      expect(Date.now() - stoppedAt).toBeLessThan(8_500)
    },
    async after() {
      const producer = await producerForTest(connection)
      await producer.send([{ topic, key: null, value: 'a' }])
      await until('it is read', () => records.length === 1)
      expect(crashes).toEqual([])
    },
  }
}

/** A partition that has a new leader is refused until it was checked; then it is read on. */
async function meetNewLeader(): Promise<Part> {
  const connection = connectForTest(servers.kafkaBrokers)
  const topic = await newTopic(connection)
  const producer = await producerForTest(connection)
  const send = (value: string) => producer.send([{ topic, key: null, value }])
  const check = async (): Promise<LogIdentity> => {
    const log = (await logEnds(connection, [{ topic, partition: 0 }])).get(topic)?.get(0)
    return log ?? { topicId: '', leaderEpoch: -1 }
  }
  await send('before')
  let checked = await check()
  const refused: object[] = []
  const { records, consumer, crashes } = await readForTest(connection, {
    topics: [topic],
    identityOf: () => checked,
    onRefused: of => void refused.push(of),
  })
  await until('it is read', () => records.length === 1)
  return {
    async after() {
      await send('after')
      await until('it is refused', () => refused.length > 0)
      expect(refused).toEqual([{ topic, partition: 0 }])
      expect(records.map(textOf)).toEqual(['before'])
      const { topicId, leaderEpoch } = checked
      checked = await check()
      expect(checked.topicId).toBe(topicId)
      expect(checked.leaderEpoch).toBeGreaterThan(leaderEpoch)
      consumer.resume(topic, 0)
      await until('it is read on', () => records.length === 2)
      expect(records.map(textOf)).toEqual(['before', 'after'])
      expect(crashes).toEqual([])
    },
  }
}

// One outage for all: the start of a broker takes 5 s of the processor.
test('over an outage of 12 s all goes on without a restart: who was there, who starts or stops meanwhile, and at a new leader', async () => {
  const connection = connectForTest(servers.kafkaBrokers)
  const topic = await newTopic(connection)
  const parts = [await goOn(), await meetNewLeader()]
  await servers.part('kafka').kill('SIGKILL')
  parts.push(await startMeanwhile(connection, topic))
  await Promise.all(parts.map(({ during }) => during?.()))
  await servers.part('kafka').start()
  await Promise.all(parts.map(({ after }) => after()))
})
