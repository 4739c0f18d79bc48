/** What kafkajs says of an error, as far as it matters here. */
type KafkaError = Error & { type?: string; cause?: unknown }

export type OutOfRange = { topic: string; partition: number; wantedOffset: number }

/** Answers of the broker that no waiting heals: somebody has to change a right, a setting or a version. */
const HOPELESS_TYPES = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_SASL_MECHANISM',
  'UNSUPPORTED_VERSION',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'INVALID_GROUP_ID',
  'INVALID_SESSION_TIMEOUT',
  'INVALID_TOPIC_EXCEPTION',
  'INCONSISTENT_GROUP_PROTOCOL',
])

const HOPELESS_NAMES = new Set([
  'KafkaJSSASLAuthenticationError',
  'KafkaJSNotImplemented',
  'KafkaJSServerDoesNotSupportApiKey',
])

/** Answers that mean: the group moves on without this member's generation; it has to join again. */
const REJOIN_TYPES = new Set([
  'REBALANCE_IN_PROGRESS',
  'NOT_COORDINATOR_FOR_GROUP',
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
])

export function meansRejoin(error: unknown): boolean {
  return causes(error).some(({ type }) => type !== undefined && REJOIN_TYPES.has(type))
}

/** True for what never heals by itself; everything else is worth another try. */
export function isHopeless(error: unknown): boolean {
  return causes(error).some(
    ({ type, name }) => (type !== undefined && HOPELESS_TYPES.has(type)) || HOPELESS_NAMES.has(name),
  )
}

/** True when the broker knows no such topic; right after its start it may say so of any, for a moment. */
export function isUnknownTopic(error: unknown): boolean {
  return causes(error).some(({ type }) => type === 'UNKNOWN_TOPIC_OR_PARTITION')
}

/** The partition and offset that the log does not hold, if that is what ended the consumer. */
export function outOfRange(error: unknown): OutOfRange | undefined {
  return causes(error).find(({ name }) => name === 'KafkaJSOffsetOutOfRange') as OutOfRange | undefined
}

function causes(error: unknown): KafkaError[] {
  const chain: KafkaError[] = []
  for (let at = error; at instanceof Error && chain.length < 10; at = at.cause) chain.push(at)
  return chain
}
