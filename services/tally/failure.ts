import { causesOf, describeDatabase, isUnreachable, partOf, reasonOf } from '@tally/runtime'

/** An invalid value on the command line; the message is a sentence that says what the option takes. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** By name, so that the errors' packages are not loaded to print help. */
const usageErrors = new Set(['UsageError', 'SettingsError', 'FeedOptionError', 'OffsetsUsageError'])

export function wasWrongUsage(error: unknown): boolean {
  return error instanceof Error && usageErrors.has(error.name)
}

type Environment = Record<string, string | undefined>

/** One line about an error; if a part does not answer, it names the part and its address, never a password. */
export function sentenceOf(error: unknown, environment: Environment): string {
  const reason = reasonOf(error)
  const codes = causesOf(error).map(({ code }) => String(code))
  if (codes.includes(lacksRights))
    return `Postgres at ${addressOf(environment.DATABASE_URL)} refuses: ${reason}; grant the role of DATABASE_URL its rights (docs/operations.md, Database roles)`
  if (codes.some(code => refused.has(code)))
    return `Postgres at ${addressOf(environment.DATABASE_URL)} refuses: ${reason}; see DATABASE_URL`
  if (!isUnreachable(error)) return reason
  switch (partOf(error)) {
    case 'kafka':
      return `Kafka does not answer at ${environment.KAFKA_BROKERS || 'localhost:9092'}: start it, or set KAFKA_BROKERS (${reason})`
    case 'redis':
      return `Redis does not answer: start it, or set REDIS_URL (${reason})`
    case 'postgres':
      return `Postgres does not answer at ${addressOf(environment.DATABASE_URL)}: start it, or set DATABASE_URL (${reason})`
  }
}

/** Postgres's codes for a wrong user, password or database. */
const refused = new Set(['28000', '28P01', '3D000'])
/** Postgres's code for a missing right. */
const lacksRights = '42501'

const addressOf = (databaseUrl: string | undefined): string =>
  describeDatabase(databaseUrl || 'postgres://localhost:5432/tally')
