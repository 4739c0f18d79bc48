import type { Cluster } from '../client/connection.ts'
import { askTopicMetadata, type TopicMetadata } from '../topics/topicMetadata.ts'
import { partitionKey, type TopicPartition } from '../types.ts'

/** Instead of the id of a leader, if a partition has none now. */
export const noLeader = '-1'
/** How soon to ask again while a partition has no leader. */
const electionMs = 500

/**
 * The leader of each partition of some topics, and how many partitions each topic has. kafkajs 2.2.4 drops the metadata
 * of all topics if one of their partitions has no leader.
 */
export class Leaders {
  readonly #cluster: Cluster
  readonly #topics: string[]
  readonly #maxAgeMs: number
  readonly #leaders = new Map<string, string>()
  #counts = new Map<string, number>()
  #validUntilMs = 0

  constructor(cluster: Cluster, topics: string[], maxAgeMs: number) {
    this.#cluster = cluster
    this.#topics = topics
    this.#maxAgeMs = maxAgeMs
  }

  /** The id of the broker that leads a partition, or `noLeader`. */
  of(partition: TopicPartition): string | undefined {
    return this.#leaders.get(partitionKey(partition))
  }

  /** How many partitions each topic has. */
  counts(): Map<string, number> {
    return this.#counts
  }

  /** What is known may be wrong: the next `refresh` asks. */
  expire(): void {
    this.#validUntilMs = 0
  }

  /** Asks a broker, unless the last answer is young. Throws kafkajs's error, also if a topic is missing. */
  async refresh(): Promise<void> {
    if (performance.now() >= this.#validUntilMs) await this.read()
  }

  /** Asks a broker how many partitions each topic has, and who leads them. Throws as `refresh`. */
  async read(): Promise<Map<string, number>> {
    const topics = await this.#ask()
    const ids = topics.flatMap(({ partitions }) => partitions.map(({ leader }) => String(leader)))
    const { brokers } = this.#cluster.brokerPool
    // A broker that is new, or has moved to another address.
    if (ids.some(id => id !== noLeader && !(id in brokers))) await this.#cluster.refreshMetadata()
    else await this.#cluster.refreshMetadataIfNecessary().catch(() => undefined)
    for (const { topic, partitions } of topics)
      for (const { partition, leader } of partitions)
        this.#leaders.set(partitionKey({ topic, partition }), String(leader))
    this.#counts = new Map(topics.map(({ topic, partitions }) => [topic, partitions.length]))
    this.#validUntilMs = performance.now() + (ids.includes(noLeader) ? electionMs : this.#maxAgeMs)
    return this.#counts
  }

  /** The metadata of all topics: one that a broker does not know yet must not count as without partitions. */
  async #ask(): Promise<TopicMetadata[]> {
    const { brokerPool } = this.#cluster
    for (const isLast of [false, true]) {
      const topics = await brokerPool.withBroker(({ broker }) => askTopicMetadata(broker, this.#topics))
      if (topics?.length === this.#topics.length) return topics
      // Throws why: the topic is missing, or may not be read.
      if (!isLast) await this.#cluster.refreshMetadata()
    }
    throw new Error('brokers disagree about which topics there are')
  }
}
