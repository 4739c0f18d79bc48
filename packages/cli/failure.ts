/** A value on the command line that cannot be right; the message is a sentence that says what it takes. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** By name, so that the errors' packages are not loaded to print help. */
const usageErrors = new Set(['UsageError', 'SettingsError', 'FeedOptionError'])

export function wasWrongUsage(error: unknown): boolean {
  return error instanceof Error && usageErrors.has(error.name)
}

type Environment = Record<string, string | undefined>

/** One line about an error; where a part does not answer, it names the part and its address, never a password. */
export function sentenceOf(error: unknown, environment: Environment): string {
  if (!(error instanceof Error)) return String(error)
  const reason = reasonOf(error)
  if (refused.has(String((error as { code?: unknown }).code)))
    return `Postgres at ${addressOf(environment.DATABASE_URL)} refuses: ${reason}; see DATABASE_URL`
  if (!isUnreachable(error)) return reason
  if (causesOf(error).some(({ name }) => name.startsWith('KafkaJS')))
    return `Kafka does not answer at ${environment.KAFKA_BROKERS || 'localhost:9092'}: start it, or set KAFKA_BROKERS (${reason})`
  return `Postgres does not answer at ${addressOf(environment.DATABASE_URL)}: start it, or set DATABASE_URL (${reason})`
}

/** Postgres's codes for a wrong user, password or database, and for no right to use it. */
const refused = new Set(['28000', '28P01', '3D000', '42501'])

/** Node's error codes, and the sentences of kafkajs and pg that come without one. */
const unreachable =
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT.*PGSQL|[Cc]onnection time|timeout exceeded when trying to connect|Connection terminated|Connection error/

function isUnreachable(error: Error): boolean {
  return causesOf(error).some(cause =>
    unreachable.test(`${(cause as NodeJS.ErrnoException).code} ${cause.message}`),
  )
}

function causesOf(error: Error): Error[] {
  const inner = error instanceof AggregateError ? error.errors : [error.cause]
  return [error, ...inner.filter(cause => cause instanceof Error).flatMap(causesOf)]
}

/** An AggregateError (one failure for each address of `localhost`) has no message of its own. */
function reasonOf(error: Error): string {
  const text = causesOf(error).find(({ message }) => message !== '')?.message ?? error.name
  return text.replace(/\s*\n\s*/g, ' ')
}

function addressOf(databaseUrl: string | undefined): string {
  const { hostname, port, pathname } = new URL(databaseUrl || 'postgres://localhost:5432/tally')
  return `${hostname || 'localhost'}:${port || 5432}${pathname}`
}
