import { afterEach, expect, test, vi } from 'vitest'
import type { Cluster } from '../client/connection.ts'
import type { TopicMetadata } from '../topics/topicMetadata.ts'
import { Leaders, noLeader } from './leaders.ts'

afterEach(() => void vi.restoreAllMocks())

const topic = (name: string, leaders: number[]): TopicMetadata => ({
  topic: name,
  topicId: name,
  partitions: leaders.map((leader, partition) => ({ partition, leader, leaderEpoch: 0 })),
})

function given(...answers: (TopicMetadata[] | null)[]) {
  const refreshMetadata = vi.fn(async () => {})
  const withBroker = vi.fn(async () => (answers.length > 1 ? answers.shift() : answers[0]))
  const brokerPool = { brokers: { 1: {}, 2: {} }, withBroker }
  const cluster = { brokerPool, refreshMetadata, refreshMetadataIfNecessary: async () => {} }
  const leaders = new Leaders(cluster as unknown as Cluster, ['a', 'b'], 60_000)
  return { leaders, refreshMetadata, withBroker }
}

test('a topic that the asked broker does not know yet never counts as one without partitions', async () => {
  const all = [topic('a', [1, 2]), topic('b', [2])]
  const { leaders } = given([topic('a', [1, 2])], all)
  expect(await leaders.read()).toEqual(
    new Map([
      ['a', 2],
      ['b', 1],
    ]),
  )
  for (const incomplete of [null, [], [topic('a', [1])]]) {
    const { leaders } = given(incomplete)
    await expect(leaders.read()).rejects.toThrow('brokers disagree about which topics there are')
    expect(leaders.counts()).toEqual(new Map())
  }
})

test('one partition without a leader hides no other, and is asked about again soon', async () => {
  const { leaders, withBroker } = given([topic('a', [1, -1]), topic('b', [2])])
  await leaders.refresh()
  const of = (topic: string, partition: number) => leaders.of({ topic, partition })
  expect([of('a', 0), of('a', 1), of('b', 0)]).toEqual(['1', noLeader, '2'])
  const later = performance.now() + 600
  vi.spyOn(performance, 'now').mockReturnValue(later)
  await leaders.refresh()
  expect(withBroker).toHaveBeenCalledTimes(2)
})

test('a broker that is new is looked up', async () => {
  const { leaders, refreshMetadata } = given([topic('a', [7]), topic('b', [2])])
  await leaders.read()
  expect(refreshMetadata).toHaveBeenCalledTimes(1)
})
