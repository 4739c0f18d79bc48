import { createRequire } from 'node:module'
import { isTransient, isUnreachable } from '@tally/platform'
import { afterEach, expect, test, vi } from 'vitest'
import type { Cluster } from '../client/connection.ts'
import { noLeader } from '../patches/metadata.ts'
import { Leaders } from './leaders.ts'

await import('../client/kafkajs.ts')
const { parse } = createRequire(import.meta.url)('kafkajs/src/protocol/requests/metadata/v6/response.js')

afterEach(() => void vi.restoreAllMocks())

/** A topic in a broker's answer; -1 instead of a partition's leader, if there is none (LEADER_NOT_AVAILABLE). */
const answered = (topic: string, leaders: number[], topicErrorCode = 0) => ({
  topic,
  topicErrorCode,
  partitionMetadata: leaders.map((leader, partitionId) => ({
    partitionId,
    leader,
    partitionErrorCode: leader === -1 ? 5 : 0,
  })),
})

test('one partition without a leader hides no other, and is asked about again soon', async () => {
  const { topicMetadata } = await parse({ topicMetadata: [answered('a', [1, -1]), answered('b', [2])] })
  const refreshMetadata = vi.fn(async () => {})
  const findTopicPartitionMetadata = (name: string) =>
    topicMetadata.find(({ topic }: { topic: string }) => topic === name).partitionMetadata
  const cluster = { refreshMetadata, findTopicPartitionMetadata } as unknown as Cluster
  const leaders = new Leaders(cluster, ['a', 'b'], 60_000)
  await leaders.refresh()
  const of = (topic: string, partition: number) => leaders.of({ topic, partition })
  expect([of('a', 0), of('a', 1), of('b', 0)]).toEqual(['1', noLeader, '2'])
  expect([...leaders.counts()]).toEqual([
    ['a', 2],
    ['b', 1],
  ])
  const later = performance.now() + 600
  vi.spyOn(performance, 'now').mockReturnValue(later)
  await leaders.refresh()
  expect(refreshMetadata).toHaveBeenCalledTimes(2)
})

test('a topic that the asked broker does not know yet never counts as one without partitions', async () => {
  const topicMetadata = [answered('a', [1]), answered('b', [], 3)]
  await expect(parse({ topicMetadata })).rejects.toMatchObject({ type: 'UNKNOWN_TOPIC_OR_PARTITION' })
})

test('an election of a partition’s leader does not count as an outage of a broker', async () => {
  const { findBroker } = createRequire(import.meta.url)('kafkajs/src/cluster/brokerPool.js').prototype
  const error = await findBroker.call({ brokers: {} }, { nodeId: noLeader }).catch((error: unknown) => error)
  expect(error).toMatchObject({ type: 'LEADER_NOT_AVAILABLE', retriable: true })
  expect([isTransient(error), isUnreachable(error)]).toEqual([true, false])
})
