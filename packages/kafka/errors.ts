import { causesOf, FatalError } from '@tally/platform'

/** A required topic does not exist. */
export class TopicMissingError extends FatalError {
  override readonly name = 'TopicMissingError'
  constructor(topics: string[]) {
    const [is, it] = topics.length === 1 ? ['topic', 'is'] : ['topics', 'are']
    super(`the ${is} ${topics.join(', ')} ${it} not there: run \`tally topics create\``)
  }
}

/** Topics whose partition counts do not fit (docs/records.md, Topics). */
export class PartitionCountError extends FatalError {
  override readonly name = 'PartitionCountError'
}

/**
 * A record batch that cannot be decoded: damaged, cut off, or packed with an unknown codec. `from` is the first offset
 * that cannot be read, `to` the offset after the batch, where `tally offsets skip` continues.
 */
export class UndecodableBatchError extends Error {
  override readonly name = 'UndecodableBatchError'
  readonly topic: string
  readonly partition: number
  readonly from: number
  readonly to: number
  constructor(
    of: { topic: string; partition: number; from: number; to: number },
    why: string,
    cause?: unknown,
  ) {
    super(
      `${of.topic}-${of.partition} holds a batch at offsets ${of.from} to ${of.to - 1} that cannot be decoded: ${why}`,
      { cause },
    )
    this.topic = of.topic
    this.partition = of.partition
    this.from = of.from
    this.to = of.to
  }
}

/** A batch comes from another log than the stored offset: the topic was deleted and created again, or truncated. */
export class LogChangedError extends Error {
  override readonly name = 'KafkaLogChangedError'
}

/** Whether the broker refused records because they exceed their topic's limit. */
export const isTooLarge = (error: unknown): boolean =>
  hasType(error, /^(MESSAGE_TOO_LARGE|RECORD_LIST_TOO_LARGE)$/)

/** Whether Kafka refused a timestamp: this host's clock is over an hour ahead (message.timestamp.after.max.ms). */
export const isWrongTime = (error: unknown): boolean => hasType(error, /^INVALID_TIMESTAMP$/)

const tooLarge = 'a record is larger than the topic takes (max.message.bytes): run `tally doctor`'

/** Records could not be sent; none, some or all of them may be in Kafka. */
export class KafkaSendError extends Error {
  override readonly name = 'KafkaSendError'
  constructor(topics: string[], cause: Error) {
    super(`could not send to ${topics.join(', ')}: ${isTooLarge(cause) ? tooLarge : cause.message}`, {
      cause,
    })
  }
}

/** Errors that mean that the group continues without this member's generation: it has to join again. */
const rejoinTypes = /^(REBALANCE_IN_PROGRESS|NOT_COORDINATOR_FOR_GROUP|ILLEGAL_GENERATION|UNKNOWN_MEMBER_ID)$/
const lostTypes = /^(GROUP_LOAD_IN_PROGRESS|GROUP_COORDINATOR_NOT_AVAILABLE|NOT_COORDINATOR_FOR_GROUP)$/
const lostNames =
  /^KafkaJS(ConnectionError|ConnectionClosedError|RequestTimeoutError|BrokerNotFound|LockTimeout|GroupCoordinatorNotFound)$/

export const meansRejoin = (error: unknown): boolean => hasType(error, rejoinTypes)

/** Whether the group does not know this member any more: it has to join as a new one. */
export const isUnknownMember = (error: unknown): boolean => hasType(error, /^UNKNOWN_MEMBER_ID$/)

/** Whether the group's coordinator cannot be reached, or is another one now. */
export const isCoordinatorLost = (error: unknown): boolean =>
  hasType(error, lostTypes) || causesOf(error).some(({ name }) => lostNames.test(name))

/** Whether the broker does not know the topic; right after its start it may briefly know none. */
export const isUnknownTopic = (error: unknown): boolean => hasType(error, /^UNKNOWN_TOPIC_OR_PARTITION$/)

/** Whether an error of kafkajs, or a cause of it, has one of these types. */
const hasType = (error: unknown, types: RegExp): boolean =>
  causesOf(error).some(cause => types.test((cause as { type?: string }).type ?? ''))
