import { kafkajs } from '@tally/kafka'
import { partitions } from '../system/system.ts'

const partitioner = kafkajs.Partitioners.DefaultPartitioner()
const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
  partitionId,
  partitionErrorCode: 0,
  leader: 1,
  replicas: [],
  isr: [],
}))

/** The partition of an event's records. */
export const shardOf = (eventId: string): number =>
  partitioner({ topic: '', partitionMetadata, message: { key: eventId, value: null } })
