export { connectKafka, type KafkaConnection } from './connection.ts'
export { consumeBatches } from './consumer.ts'
export {
  KafkaSendError,
  OffsetOutOfLogError,
  PartitionCountError,
  TopicMissingError,
  UndecodableBatchError,
} from './errors.ts'
export { logEnds } from './logEnds.ts'
export { endOffsets } from './offsets.ts'
export { openProducer } from './producer.ts'
export { readTopic, type TopicRead } from './readTopic.ts'
export { checkTopics, createTopics, describeTopics, topicNames } from './topics.ts'
export type * from './types.ts'
