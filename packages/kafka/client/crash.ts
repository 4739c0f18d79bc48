import { causesOf } from '@tally/platform'

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
export const hasType = (error: unknown, types: RegExp): boolean =>
  causesOf(error).some(cause => types.test((cause as { type?: string }).type ?? ''))
