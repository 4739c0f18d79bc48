/**
 * A partition that a broker does not read now. `isOther`: its log is not, or may not be, the one that was requested.
 */
export type Refused = { topic: string; partition: number; isOther: boolean }

/**
 * The topic was deleted, or created again (UNKNOWN_TOPIC_ID, INCONSISTENT_TOPIC_ID), or a new leader, whose log may be
 * shorter, has taken over (FENCED_LEADER_EPOCH).
 */
const otherCodes = new Set([100, 103, 74])
/**
 * The broker does not lead the partition (NOT_LEADER_OR_FOLLOWER, REPLICA_NOT_AVAILABLE) or does not know yet that it
 * does (UNKNOWN_LEADER_EPOCH, OFFSET_NOT_AVAILABLE).
 */
const transientCodes = new Set([6, 9, 75, 78])

/** Whether and how the answer for one partition is a refusal. Other errors are left to kafkajs. */
export function refusedOf(
  topic: string,
  { partition, errorCode }: { partition: number; errorCode: number },
): Refused | undefined {
  const isOther = otherCodes.has(errorCode)
  return isOther || transientCodes.has(errorCode) ? { topic, partition, isOther } : undefined
}
