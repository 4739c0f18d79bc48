import type { Cluster } from '../client/connection.ts'
import { noLeader } from '../patches/metadata.ts'
import { partitionKey, type TopicPartition } from '../types.ts'

/** How soon to ask again while a partition has no leader. */
const electionMs = 500

/** The leader of each partition of some topics, and how many partitions each topic has. */
export class Leaders {
  readonly #cluster: Cluster
  readonly #topics: string[]
  readonly #maxAgeMs: number
  #leaders = new Map<string, string>()
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
    await this.#cluster.refreshMetadata()
    const found = this.#topics.map(topic => ({
      topic,
      partitions: this.#cluster.findTopicPartitionMetadata(topic),
    }))
    this.#counts = new Map(found.map(({ topic, partitions }) => [topic, partitions.length]))
    this.#leaders = new Map(
      found.flatMap(({ topic, partitions }) =>
        partitions.map(({ partitionId: partition, leader }) => [
          partitionKey({ topic, partition }),
          String(leader),
        ]),
      ),
    )
    const isElecting = [...this.#leaders.values()].includes(noLeader)
    this.#validUntilMs = performance.now() + (isElecting ? electionMs : this.#maxAgeMs)
    return this.#counts
  }
}
