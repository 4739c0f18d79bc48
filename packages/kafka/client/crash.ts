import { causesOf } from '@tally/runtime'

/** The fields of kafkajs's errors that are used here. */
type KafkaError = Error & { type?: string; cause?: unknown }

export type OutOfRange = { topic: string; partition: number; wantedOffset: number }

/** Errors that mean that the group continues without this member's generation: it has to join again. */
const rejoinTypes = new Set([
  'REBALANCE_IN_PROGRESS',
  'NOT_COORDINATOR_FOR_GROUP',
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
])

export function meansRejoin(error: unknown): boolean {
  return causes(error).some(({ type }) => type !== undefined && rejoinTypes.has(type))
}

/** Whether the broker does not know the topic; right after its start it may briefly know none. */
export function isUnknownTopic(error: unknown): boolean {
  return causes(error).some(({ type }) => type === 'UNKNOWN_TOPIC_OR_PARTITION')
}

/** The partition and offset that the log does not hold, if that is what ended the consumer. */
export function outOfRange(error: unknown): OutOfRange | undefined {
  return causes(error).find(({ name }) => name === 'KafkaJSOffsetOutOfRange') as OutOfRange | undefined
}

const causes = (error: unknown): KafkaError[] => causesOf(error) as KafkaError[]
