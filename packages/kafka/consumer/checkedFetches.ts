import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker, Cluster } from '../client/cluster.ts'
import type { FetchRequest, FetchResponse } from '../patches/fetchById.ts'
import type { Refused } from '../patches/refused.ts'
import type { TopicPartition } from '../topics/topicPartition.ts'
import type { LogIdentity } from '../types.ts'

export type FetchHooks = {
  /** As ConsumeOptions.identityOf. */
  identityOf(of: TopicPartition): Partial<LogIdentity> | undefined
  refused(of: Refused): void
}

/** How long a fetch waits if the log of none of its partitions has been checked. */
const uncheckedMs = 50

/**
 * Makes a kafkajs consumer, by its cluster, fetch each partition with the identity of the log that was checked: see
 * patches/fetchById.ts. Partitions that were not checked yet are not fetched. Partitions that a broker refuses are
 * reported, and the others of the same answer passed on.
 */
export function checkFetches(cluster: Cluster, hooks: FetchHooks): void {
  const { findBroker } = cluster
  cluster.findBroker = async of => {
    const broker = await findBroker.call(cluster, of)
    const { fetch } = Object.getPrototypeOf(broker) as Broker
    broker.fetch = async wanted => {
      const request = identified(wanted as FetchRequest, hooks)
      if (request.topics.length === 0) {
        await sleep(uncheckedMs)
        return { responses: [] }
      }
      const answer = (await fetch.call(broker, request)) as Partial<FetchResponse> & { responses: [] }
      const refused = answer.refused ?? []
      // Before its next fetch kafkajs asks which broker leads the partition.
      if (refused.length > 0) cluster.brokerPool.metadataExpireAt = null
      for (const one of refused) hooks.refused(one)
      return answer
    }
    return broker
  }
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
