export { connectKafka, type KafkaConnection } from './connection.ts'
export { consumeBatches } from './consumer.ts'
export {
  KafkaSendError,
  LogChangedError,
  OffsetOutOfLogError,
  PartitionCountError,
  TopicMissingError,
  UndecodableBatchError,
} from './errors.ts'
export { logEnds, logIdentities, type LogIdentity } from './logEnds.ts'
export { endOffsets } from './offsets.ts'
export { partitionOf } from './partitionOf.ts'
export { openProducer } from './producer.ts'
export { judgeLogs, type JudgedLog, type LogPosition, skipHint } from './judgeLogs.ts'
export { readBack, type WindowRead } from './readBack.ts'
export { fingerprintOf, readRecordAt } from './readRecordAt.ts'
export { topicConfigs } from './topicConfigs.ts'
export { readTopic, topicLogs, type TopicRead } from './readTopic.ts'
export { checkTopics, createTopics, describeTopics, topicNames } from './topics.ts'
export { MAX_VALUE_BYTES } from './types.ts'
export type * from './types.ts'
