import { FatalError } from '@tally/runtime'
import type { Postgres } from '@tally/storage'
import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import * as readModels from './migrations/0001-read-models.ts'
import * as operations from './migrations/0002-operations.ts'
import * as addedPartitions from './migrations/0003-added-partitions.ts'
import * as orderSlots from './migrations/0004-order-slots.ts'
import * as administration from './migrations/0005-administration.ts'
import * as itemBlocks from './migrations/0006-item-blocks.ts'
import * as epochs from './migrations/0007-epochs.ts'
import * as timeBuckets from './migrations/0008-time-buckets.ts'
import * as keyChanges from './migrations/0009-key-changes.ts'
import * as partitionLogs from './migrations/0010-partition-logs.ts'
import * as scatteredHeads from './migrations/0011-scattered-heads.ts'
import * as accounts from './migrations/0012-accounts.ts'
import * as enrolment from './migrations/0013-enrolment.ts'

/** The migrations in order; a migration that has been released is never changed. */
const migrations: Record<string, Migration> = {
  '0001-read-models': readModels,
  '0002-operations': operations,
  '0003-added-partitions': addedPartitions,
  '0004-order-slots': orderSlots,
  '0005-administration': administration,
  '0006-item-blocks': itemBlocks,
  '0007-epochs': epochs,
  '0008-time-buckets': timeBuckets,
  '0009-key-changes': keyChanges,
  '0010-partition-logs': partitionLogs,
  '0011-scattered-heads': scatteredHeads,
  '0012-accounts': accounts,
  '0013-enrolment': enrolment,
}
const latest = Object.keys(migrations).length

/**
 * Migrates the schema to this version; returns the names of the migrations that ran. Concurrent calls are safe: kysely
 * holds a lock in Postgres meanwhile.
 */
export async function migrate(db: Postgres): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error, results } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
  // New connections call this function; this one was opened before it existed.
  await sql`select open_epoch(0, 0)`.execute(db)
  return (results ?? []).map(({ migrationName }) => migrationName)
}

/** The schema is not at this version; the message names the command to run. */
export class SchemaError extends FatalError {
  override readonly name = 'SchemaError'
}

/** Throws a SchemaError if the schema is missing, or older or newer than this program. */
export async function checkSchema(db: Postgres): Promise<void> {
  const applied = await appliedMigrations(db)
  if (applied < latest)
    throw new SchemaError('the Postgres schema is missing or old: run `tally migrate` first')
  if (applied > latest)
    throw new SchemaError('the Postgres schema is newer than this program: deploy the newer program')
}

async function appliedMigrations(db: Postgres): Promise<number> {
  const { rows: tables } = await sql<{
    found: boolean
  }>`select to_regclass('kysely_migration') is not null as found`.execute(db)
  if (tables[0]?.found !== true) return 0
  const { rows } = await sql<{ count: number }>`select count(*) from kysely_migration`.execute(db)
  return rows[0]?.count ?? 0
}
