/** Kafka's codes of operations that an ACL allows (AclOperation.java in apache/kafka). */
const codes = { read: 3, write: 4, describe: 8, 'describe-configs': 10 } as const

/** An operation on a topic or a group. Without an authorizer, everyone may do all of them. */
export type Right = keyof typeof codes

/** The operations that a broker's answer allows: bit n stands for the operation with code n. */
export const rightsIn = (authorizedOperations: number): Set<Right> =>
  new Set((Object.keys(codes) as Right[]).filter(right => (authorizedOperations >> codes[right]) % 2 !== 0))

/** Error codes with which a broker refuses to say anything (Errors.java in apache/kafka). */
export const topicForbidden = 29
export const groupForbidden = 30
