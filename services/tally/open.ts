import type { KafkaConnection } from '@tally/kafka'
import type { Logger, Postgres, Settings, Tx } from '@tally/platform'

/** The settings and a logger for a command that ends by itself: its errors are sentences, not log lines. */
export async function openCommand(): Promise<{ settings: Settings; logger: Logger }> {
  const { createLogger, readSettings } = await import('@tally/platform')
  const settings = readSettings(process.env)
  const isWanted = settings.logLevel === 'debug' || settings.logLevel === 'trace'
  return { settings, logger: createLogger('cli', isWanted ? settings.logLevel : 'silent') }
}

/** Long enough for a migration that builds an index over millions of orders. */
const statementTimeoutMs = 30 * 60_000
/** Longer than a service waits: nothing else answers for a command, and it often runs on a busy machine. */
const connectTimeoutMs = 10_000

/**
 * Does `work` with a connection to Postgres, and closes it in any case. `lockTimeoutMs`: as PoolOptions.lockTimeoutMs.
 * `onlyReads`: as DatabaseOptions.onlyReads.
 */
export async function withPostgres<T>(
  url: string,
  work: (db: Postgres) => Promise<T>,
  { lockTimeoutMs = 0, onlyReads = false } = {},
): Promise<T> {
  const { openPostgres } = await import('@tally/schema')
  // If a connection breaks while it is used, the query fails, which is reported.
  const timeouts = { statementTimeoutMs, lockTimeoutMs, connectTimeoutMs }
  const db = openPostgres(url, { name: 'cli', max: 2, onlyReads, ...timeouts, onError: () => {} })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

/**
 * As withPostgres; throws a sentence with the command to run if the schema is missing or old. For what takes no
 * revisions: it needs no right to open an epoch, which the role of the administration area does not have.
 */
export function withSchema<T>(url: string, work: (db: Postgres) => Promise<T>): Promise<T> {
  return withPostgres(url, checked(work), { onlyReads: true })
}

/** As withSchema, for what takes revisions: only the owner of the schema and the projector may. */
export function withRevisions<T>(url: string, work: (db: Postgres) => Promise<T>): Promise<T> {
  return withPostgres(url, checked(work))
}

const checked =
  <T>(work: (db: Postgres) => Promise<T>) =>
  async (db: Postgres): Promise<T> => {
    const { checkSchema } = await import('@tally/schema')
    await checkSchema(db)
    return work(db)
  }

/** As withSchema, in one transaction: an action and its audit entry. */
export function withTransaction<T>(url: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withSchema(url, db => db.transaction().execute(work))
}

/** Does `work` with a connection to Kafka, and closes it in any case. */
export async function withKafka<T>(
  settings: Settings,
  logger: Logger,
  work: (kafka: KafkaConnection) => Promise<T>,
): Promise<T> {
  const { connectKafka } = await import('@tally/kafka')
  const kafka = connectKafka(settings.kafka, { clientId: 'tally-cli', logger })
  try {
    return await work(kafka)
  } finally {
    await kafka.close()
  }
}
