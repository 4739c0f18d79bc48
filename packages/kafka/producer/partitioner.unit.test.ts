import { expect, test } from 'vitest'
import { kafkajs } from '../client/kafkajs.ts'

const partitionOf = (key: string, partitions: number): number => {
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
    partitionId,
    leader: 1,
  }))
  const message = { key, value: null }
  return kafkajs.Partitioners.DefaultPartitioner()({
    topic: 't',
    partitionMetadata: partitionMetadata as never,
    message,
  })
}

/** Hashes from Kafka's own UtilsTest. */
test.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
])('the key %s has the hash that Kafka tests for', (key, hash) => {
  expect(partitionOf(key, 9973)).toBe((hash & 0x7fffffff) % 9973)
})
