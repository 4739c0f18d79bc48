export { connectKafka, countBrokers, inside, type KafkaConnection } from './client/connection.ts'
export { kafkajs } from './client/kafkajs.ts'
export { consumeBatches } from './consumer/consumer.ts'
export {
  KafkaSendError,
  LogChangedError,
  OffsetOutOfLogError,
  PartitionCountError,
  TopicMissingError,
  UndecodableBatchError,
} from './errors.ts'
export { groupState } from './inspect/groupState.ts'
export { type HeldBack, heldBack } from './inspect/heldBack.ts'
export type { Right } from './inspect/rights.ts'
export { type TopicState, topicStates } from './inspect/topicStates.ts'
export { cutAt } from './log/bounds.ts'
export { type JudgedLog, judgeLogs, type LogPosition, skipHint } from './log/judgeLogs.ts'
export { logEnds } from './log/logEnds.ts'
export { endOffsets } from './log/offsets.ts'
export { readBack, type WindowRead } from './log/readBack.ts'
export { fingerprintOf, readRecordAt } from './log/readRecordAt.ts'
export { readTopic, type TopicRead, topicLogs } from './log/readTopic.ts'
export { partitionOf } from './producer/partitionOf.ts'
export { openProducer } from './producer/producer.ts'
export { recordTopics, type TopicNames, topicNames } from './topics/names.ts'
export { keepsAll, readRetention } from './topics/retention.ts'
export {
  deadLetterRetentionBytes,
  largestBatch,
  readSmallTopics,
  type SmallTopic,
} from './topics/settings.ts'
export { topicConfigs } from './topics/topicConfigs.ts'
export { partitionKey, partitionsOf, type TopicPartition } from './topics/topicPartition.ts'
export { checkTopics, createTimeoutMs, createTopics, describeTopics } from './topics/topics.ts'
export type * from './types.ts'
export { maxValueBytes } from './types.ts'
