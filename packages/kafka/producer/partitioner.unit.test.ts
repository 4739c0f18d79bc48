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

/** From the Java client: toPositive(Utils.murmur2(key)) % 6, % 50. */
test.each([
  ['7c1e0000-0000-4000-8000-000000000001', 0, 6],
  ['0b5a7f3e-91d2-4c86-a5b0-3d2e1f604718', 3, 17],
  ['ffffffff-ffff-4fff-bfff-ffffffffffff', 5, 47],
  ['00000000-0000-0000-0000-000000000000', 3, 37],
  ['a81bc81b-dead-4e5d-abff-90865d1e13b1', 2, 26],
])('%s goes where the Java client sends it', (key, ofSix, ofFifty) => {
  expect(partitionOf(key, 6)).toBe(ofSix)
  expect(partitionOf(key, 50)).toBe(ofFifty)
})

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
