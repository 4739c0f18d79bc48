import type { Cluster } from '../client/cluster.ts'
import { OffsetTable } from '../log/offsetTable.ts'
import { askTopicMetadata } from '../topics/topicMetadata.ts'

/**
 * The leader of each partition of some topics, and how many partitions each topic has. kafkajs 2.2.4 drops the metadata
 * of all topics if one of their partitions has no leader.
 */
export class Leaders {
  readonly #cluster: Cluster
  readonly #topics: string[]
  readonly #maxAgeMs: number
  readonly #leaders = new OffsetTable<string>()
  #counts = new Map<string, number>()
  #validUntilMs = 0

  constructor(cluster: Cluster, topics: string[], maxAgeMs: number) {
    this.#cluster = cluster
    this.#topics = topics
    this.#maxAgeMs = maxAgeMs
  }

  /** The id of the broker that leads a partition; "-1" if none does now. */
  of(topic: string, partition: number): string | undefined {
    return this.#leaders.get(topic, partition)
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
    const { brokerPool } = this.#cluster
    const answered = await brokerPool.withBroker(({ broker }) => askTopicMetadata(broker, this.#topics))
    const topics = answered ?? []
    const ids = topics.flatMap(({ partitions }) => partitions.map(({ leader }) => String(leader)))
    const isNewBroker = ids.some(id => id !== '-1' && !(id in brokerPool.brokers))
    // kafkajs's own request brings new brokers, and throws why a topic is not in the answer.
    if (isNewBroker || topics.length < this.#topics.length) await this.#cluster.refreshMetadata()
    for (const { topic, partitions } of topics)
      for (const { partition, leader } of partitions) this.#leaders.set(topic, partition, String(leader))
    this.#counts = new Map(topics.map(({ topic, partitions }) => [topic, partitions.length]))
    this.#validUntilMs = performance.now() + this.#maxAgeMs
    return this.#counts
  }
}
