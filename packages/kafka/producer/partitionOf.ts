import { createRequire } from 'node:module'

const murmur2: (key: Buffer) => number = createRequire(import.meta.url)(
  'kafkajs/src/producer/partitioners/default/murmur2.js',
)

/** The partition that Kafka's partitioner chooses for a key (docs/records.md, Topics): murmur2, as in Java. */
export function partitionOf(key: Buffer, partitions: number): number {
  return (murmur2(key) & 0x7fffffff) % partitions
}
