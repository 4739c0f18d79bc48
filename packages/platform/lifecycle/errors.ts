/** An error that waiting does not resolve: a setting, a topic or the schema must be changed. Its message says which. */
export class FatalError extends Error {}

/** An error of this program that waiting resolves, as if Postgres were down. */
export class TransientError extends Error {}

export type Part = 'kafka' | 'postgres' | 'redis'

/** The names of the parts in sentences. */
export const partNames = { kafka: 'Kafka', postgres: 'Postgres', redis: 'Redis' } as const

/** The fields that pg, kafkajs, ioredis and Node put on an error, as far as they matter here. */
type Cause = Error & { code?: unknown; type?: unknown; path?: unknown }

/**
 * True if the error comes from a part that is down, slow, overloaded or switching over, so that the same call can
 * succeed later without a change to this program. An error that is neither transient nor fatal is a bug: it
 * rejects the record that causes it, or ends the process.
 */
export function isTransient(error: unknown): boolean {
  return !isFatal(error) && causesOf(error).some(isTransientCause)
}

/** True if waiting does not help: a FatalError, or a refusal by Kafka that needs other rights, settings or versions. */
export function isFatal(error: unknown): boolean {
  return causesOf(error).some(
    cause =>
      cause instanceof FatalError || fatalNames.has(cause.name) || fatalKafkaTypes.has(String(cause.type)),
  )
}

/** True if a connection could not be made or broke, so the address may be wrong. */
export function isUnreachable(error: unknown): boolean {
  return causesOf(error).some(isConnectionCause)
}

/**
 * The part that an error comes from. pg passes on network errors as they are, while kafkajs and ioredis wrap them: any
 * error that is not theirs is Postgres's.
 */
export function partOf(error: unknown): Part {
  const causes = causesOf(error)
  if (causes.some(isKafkaCause)) return 'kafka'
  return causes.some(isRedisCause) ? 'redis' : 'postgres'
}

/** The error, its causes and the errors of an AggregateError, outermost first. */
export function causesOf(error: unknown): Cause[] {
  const found = new Set<Error>()
  const add = (one: unknown): void => {
    if (!(one instanceof Error) || found.has(one)) return
    found.add(one)
    // kafkajs's own aggregate is not an AggregateError.
    const { errors, lastNodeError } = one as { errors?: unknown; lastNodeError?: unknown }
    for (const inner of Array.isArray(errors) ? errors : []) add(inner)
    add(one.cause)
    add(lastNodeError)
  }
  add(error)
  return [...found]
}

/** Whether Redis refused a write although it answers reads: full, cannot save, lacks replicas, or a replica. */
export const isRefusedWrite = (error: unknown): boolean =>
  error instanceof Error && /\b(OOM|MISCONF|NOREPLICAS|READONLY)\b/.test(error.message)

/**
 * One line for messages: the first message of the chain, because an AggregateError has none of its own. That of a Redis
 * Cluster as a whole, or of kafkajs about several topics, says nothing if one of them said why.
 */
export function reasonOf(error: unknown): string {
  const causes = causesOf(error)
  const said = causes.filter(({ message }) => message !== '')
  const first = said.find(({ name }) => !/^(ClusterAllFailed|KafkaJSAggregate)Error$/.test(name)) ?? said[0]
  const text = first?.message ?? causes[0]?.name ?? String(error)
  return text.replace(/\s*\n\s*/g, ' ')
}

const fatalNames = new Set([
  'KafkaJSSASLAuthenticationError',
  'KafkaJSNotImplemented',
  'KafkaJSServerDoesNotSupportApiKey',
])

const fatalKafkaTypes = new Set([
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

/**
 * SQLSTATEs of transient errors. Classes: 08 connection, 28 refused authentication (for seconds, during a failover or a
 * password rotation), 40 rollback, 53 resources, 55 locks, 57 operator and time-outs, 58 and XX the server's own
 * trouble. 25006 read-only, 25P02 to 25P04 a transaction that was aborted or ended for idling (a process that was
 * frozen), 26000 and 42P05 prepared statements that a pooler mixed up, 3D000 no such database (yet).
 */
const transientStates = /^(08|28|40|53|55|57|58|XX)...$|^(25006|25P0[234]|26000|3D000|42P05)$/
/** Whether an error's code is one of Postgres: five letters and digits. */
export const isSqlState = (code: unknown): code is string =>
  typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)

/** pg's own messages, which have no code. */
const pgConnection =
  /^(timeout expired|timeout exceeded when trying to connect|Connection terminated|Client (has encountered a connection error|was closed)|There was an error establishing an SSL connection|The server does not support SSL connections|Query read timeout|Received unexpected )/i

const redisConnection =
  /^(Command timed out|Connection is closed|Stream isn't writeable|Socket timeout|connect ETIMEDOUT|Cluster is(n't ready| disconnect)|None of startup nodes|Node is disconnected|All sentinels are unreachable|Failed to refresh slots cache)/
const redisNames = new Set([
  'ReplyError',
  'MaxRetriesPerRequestError',
  'ClusterAllFailedError',
  'AbortError',
  'RedisError',
])
/** Replies of a Redis that loads, fails over, is full or cannot save, or whose password is being rotated. */
const transientReplies =
  /^-?(LOADING|READONLY|OOM|MISCONF|CLUSTERDOWN|MASTERDOWN|NOMASTER|TRYAGAIN|NOREPLICAS|BUSY|MOVED|ASK|UNBLOCKED|NOAUTH|WRONGPASS|ERR max number of clients)\b/

function isTransientCause(cause: Cause): boolean {
  const { code, message, name } = cause
  if (cause instanceof TransientError || isConnectionCause(cause) || isKafkaCause(cause)) return true
  if (isSqlState(code) && transientStates.test(code)) return true
  // 0A000 is a bug, except when a migration changed a table under a prepared statement.
  if (code === '0A000') return message.includes('cached plan must not change result type')
  if (name === 'ReplyError') return transientReplies.test(message)
  return name === 'AbortedTransactionError'
}

function isConnectionCause(cause: Cause): boolean {
  const { code, message, name } = cause
  if (isSystemCode(cause)) return true
  if (typeof code === 'string' && (/^08...$/.test(code) || /^57P0[123]$/.test(code))) return true
  if (isKafkaCause(cause)) return /Connection|Timeout|BrokerNotFound|NoBrokerAvailable/.test(name)
  if (name === 'ReplyError') return false
  return (
    redisNames.has(name) ||
    name === 'TimeoutError' ||
    pgConnection.test(message) ||
    redisConnection.test(message)
  )
}

/** Node's codes for the network and TLS. Errors of files have a path or, if the file was open, one of these codes. */
function isSystemCode({ code, path }: Cause): boolean {
  if (typeof code !== 'string' || path !== undefined) return false
  return (
    /^E(?!RR_|ISDIR|NOSPC|DQUOT|FBIG)[A-Z_]{3,}$/.test(code) ||
    /^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_)/.test(code)
  )
}

const isKafkaCause = ({ name }: Cause): boolean => name.startsWith('Kafka')
const isRedisCause = ({ name, message }: Cause): boolean =>
  redisNames.has(name) || redisConnection.test(message)
