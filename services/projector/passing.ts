/** SQLSTATE classes of what passes: connection, transaction rollback, resources, operator, system, not ready, read-only. */
const passingStates = /^(08|40|53|55|57|58|25006|XX000)/

/**
 * Whether an error is of a part that is down, slow or in the way, so that the batch is tried again (house rule:
 * backpressure). Anything else is a fault of this program and ends it loudly.
 */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, name, message } = error as Error & { code?: unknown }
  if (name.startsWith('Kafka')) return true
  if (typeof code === 'string') return passingStates.test(code) || /^E[A-Z]+$/.test(code)
  return /terminated|timeout|timed out|not queryable|connection|Client was closed/i.test(message)
}

/** The part that an error tells of, for the metrics. */
export function partOf(error: unknown): 'kafka' | 'postgres' | 'redis' {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  if (name.startsWith('Kafka')) return 'kafka'
  const isRedis = /^(ReplyError|MaxRetriesPerRequestError|ClusterAllFailedError|AbortError)$/.test(name)
  return isRedis || /^(Command timed out|Connection is closed|Stream isn't writeable)/.test(message)
    ? 'redis'
    : 'postgres'
}
