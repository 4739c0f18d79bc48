/** A value for each partition of each topic. */
export class PartitionMap<V> {
  readonly #byTopic = new Map<string, Map<number, V>>()

  get(topic: string, partition: number): V | undefined {
    return this.#byTopic.get(topic)?.get(partition)
  }

  set(topic: string, partition: number, value: V): void {
    const partitions = this.#byTopic.get(topic) ?? new Map<number, V>()
    this.#byTopic.set(topic, partitions.set(partition, value))
  }

  clear(): void {
    this.#byTopic.clear()
  }

  values(): V[] {
    return [...this.#byTopic.values()].flatMap(partitions => [...partitions.values()])
  }

  entries(): [topic: string, partition: number, value: V][] {
    return [...this.#byTopic].flatMap(([topic, partitions]) =>
      [...partitions].map(([partition, value]): [string, number, V] => [topic, partition, value]),
    )
  }
}
