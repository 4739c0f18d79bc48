// Not all of the platform: it loads Postgres and Redis, 0.3 s of the processor, to print help.
import { describeDatabase } from '@tally/platform/databaseUrl'
import { causesOf, isUnreachable, partOf, reasonOf } from '@tally/platform/errors'

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
  const refused = causesOf(error).find(({ code }) => mends.has(String(code)))
  if (refused !== undefined)
    return `Postgres at ${addressOf(environment.DATABASE_URL)} refuses: ${reason}; ${mends.get(String(refused.code))}`
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

/** What to do about Postgres's codes for a wrong user, password or database, and for missing rights. */
const mends = new Map([
  ...['28000', '28P01'].map(code => [code, 'see DATABASE_URL'] as const),
  ['3D000', 'create it (`createdb`), or see DATABASE_URL'],
  [
    '42501',
    'connect as the role for it, with the rights that `tally migrate` grants (docs/install.md, Database roles)',
  ],
])

const addressOf = (databaseUrl: string | undefined): string =>
  describeDatabase(databaseUrl || 'postgres://localhost:5432/tally')
