import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker, Cluster } from '../client/cluster.ts'
import type { FetchRequest, FetchResponse } from '../patches/fetchById.ts'
import type { Refused } from '../patches/refused.ts'
import type { TopicPartition } from '../topics/topicPartition.ts'
import type { LogIdentity } from '../types.ts'

export type FetchHooks = {
  /** As ConsumeOptions.identityOf. */
  identityOf(of: TopicPartition): LogIdentity | undefined
  refused(of: Refused): void
}

/** How long a fetch waits if the log of none of its partitions has been checked. */
const uncheckedMs = 50
/**
 * The next fetch waits until this long after a small answer. At a few hundred records a second it then brings those of
 * several partitions, not one record; a record that comes alone waits for nothing.
 */
const gatherMs = 5
const smallBytes = 64 * 1024

/**
 * Makes a kafkajs consumer, by its cluster, fetch each partition with the identity of the log that was checked: see
 * patches/fetchById.ts. Partitions that were not checked yet are not fetched. Partitions that a broker refuses are
 * reported, and the others of the same answer passed on. After a small answer, the next fetch waits a little.
 */
export function checkFetches(cluster: Cluster, hooks: FetchHooks): void {
  const { findBroker } = cluster
  /** When each broker last gave a small answer. */
  const small = new WeakMap<Broker, number>()
  cluster.findBroker = async of => {
    const broker = await findBroker.call(cluster, of)
    const { fetch } = Object.getPrototypeOf(broker) as Broker
    broker.fetch = async wanted => {
      const request = identified(wanted as FetchRequest, hooks)
      if (request.topics.length === 0) {
        await sleep(uncheckedMs)
        return { responses: [] }
      }
      const waitMs = (small.get(broker) ?? 0) + gatherMs - performance.now()
      if (waitMs > 0) await sleep(Math.ceil(waitMs))
      const answer = (await fetch.call(broker, request)) as Partial<FetchResponse> & { responses: [] }
      const bytes = bytesOf(answer.responses)
      if (bytes > 0 && bytes < smallBytes) small.set(broker, performance.now())
      const refused = answer.refused ?? []
      // Before its next fetch kafkajs asks which broker leads the partition.
      if (refused.length > 0) cluster.brokerPool.metadataExpireAt = null
      for (const one of refused) hooks.refused(one)
      return answer
    }
    return broker
  }
}

function bytesOf(responses: FetchResponse['responses']): number {
  let bytes = 0
  for (const { partitions } of responses) for (const { messages } of partitions) bytes += messages.length
  return bytes
}

function identified(request: FetchRequest, { identityOf }: FetchHooks): FetchRequest {
  const topics = request.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.flatMap(wanted => {
      const identity = identityOf({ topic, partition: wanted.partition })
      return identity === undefined ? [] : [{ ...wanted, ...identity }]
    }),
  }))
  return { ...request, topics: topics.filter(({ partitions }) => partitions.length > 0) }
}
