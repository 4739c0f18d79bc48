export { fingerprintOf } from './batches/records.ts'
export { connectKafka, countBrokers, inside, type KafkaConnection } from './client/connection.ts'
export { kafkajs } from './client/kafkajs.ts'
export { consumeBatches } from './consumer/consumer.ts'
export { LogChangedError, TopicMissingError, UndecodableBatchError } from './errors.ts'
export { groupState, type Right, type TopicState, topicStates } from './inspect/states.ts'
export { type HeldBack, heldBack } from './inspect/transactions.ts'
export { type JudgedLog, judgeLogs, type LogPosition, skipHint } from './log/judgeLogs.ts'
export { cutAt, endOffsets, logEnds } from './log/logEnds.ts'
export { readBack, readRecordAt, readTopic, topicLogs } from './log/readLog.ts'
export { openProducer, partitionOf } from './producer/producer.ts'
export { recordTopics, type TopicNames, topicNames } from './topics/names.ts'
export {
  deadLetterRetentionBytes,
  keepsAll,
  largestBatch,
  readRetention,
  readSmallTopics,
  type SmallTopic,
  topicConfigs,
} from './topics/settings.ts'
export { checkTopics, createTimeoutMs, createTopics, describeTopics } from './topics/topics.ts'
export type * from './types.ts'
export { maxValueBytes, partitionKey, partitionsOf } from './types.ts'
