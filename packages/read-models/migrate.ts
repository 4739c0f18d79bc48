import { setTimeout as sleep } from 'node:timers/promises'
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
import * as removedEvents from './migrations/0014-removed-events.ts'
import * as quietEvents from './migrations/0015-quiet-events.ts'
import * as columnStatistics from './migrations/0016-column-statistics.ts'
import * as refundVersions from './migrations/0017-refund-versions.ts'
import * as eventSizes from './migrations/0020-event-sizes.ts'
import * as screenViews from './migrations/0021-screen-views.ts'
import { grantRoles } from './roles.ts'
import { isContract, misfitOf, planMigrations } from './schemaSteps.ts'

/**
 * The migrations in order; a migration that has been released is never changed. From 0014 on, those whose names contain
 * `-contract-` are contract steps, and all others only expand (schemaSteps.ts).
 */
export const migrations: Record<string, Migration> = {
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
  '0014-removed-events': removedEvents,
  '0015-quiet-events': quietEvents,
  '0016-column-statistics': columnStatistics,
  '0017-refund-versions': refundVersions,
  '0020-event-sizes': eventSizes,
  '0021-screen-views': screenViews,
}
const names = Object.keys(migrations)

/** A statement waited for a lock longer than its session allows. */
const lockNotAvailable = '55P03'
const lockRetryMs = 1_000
const lockAttempts = 200

/**
 * Migrates the schema to this version, or, if a newer version has expanded it, does nothing; returns the names of the
 * migrations that ran. Without `contracts`, the schema is only expanded, so that processes of the previous version can
 * go on (planMigrations). Concurrent calls are safe: kysely holds a lock in Postgres during each step. Tries again if a
 * lock was not available in time: a table that waits for its lock holds up everyone else who needs it. `onRan` is
 * called with each name once it is committed, also if a later one fails. The roles of the services get their rights.
 */
export async function migrate(
  db: Postgres,
  { contracts = false, onRan = () => {} }: { contracts?: boolean; onRan?: (name: string) => void } = {},
): Promise<string[]> {
  const ran: string[] = []
  for (let attempt = 1; ; attempt++) {
    try {
      for (;;) {
        const step = await migrateStep(db, contracts)
        if (step.length === 0) break
        for (const name of step) onRan(name)
        ran.push(...step)
      }
      // New connections call this function; this one was opened before it existed.
      await sql`select open_epoch(0, 0)`.execute(db)
      await grantRoles(db)
      return ran
    } catch (error) {
      if ((error as { code?: unknown }).code !== lockNotAvailable || attempt === lockAttempts) throw error
      await sleep(lockRetryMs)
    }
  }
}

/**
 * Runs the next migrations, and returns their names; none if the schema has this version. While processes run, that is
 * one, committed by itself, so that none holds a table's lock while it waits for another's. All run at once on an empty
 * database, and if contract steps are among them: after a part of them, planMigrations could not tell that an upgrade
 * skips a version.
 */
async function migrateStep(db: Postgres, contracts: boolean): Promise<string[]> {
  const applied = await appliedMigrations(db)
  if (applied.some(name => !names.includes(name))) {
    await checkSchema(db)
    return []
  }
  const planned = planMigrations(names, applied, { contracts })
  const step = applied.length === 0 || planned.some(isContract) ? planned : planned.slice(0, 1)
  const wanted = new Set([...applied, ...step])
  const chosen = Object.fromEntries(Object.entries(migrations).filter(([name]) => wanted.has(name)))
  const migrator = new Migrator({ db, provider: { getMigrations: async () => chosen } })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
  return results.map(({ migrationName }) => migrationName)
}

/** The contract steps of this version that have not run (docs/operations.md, Upgrades). */
export async function leftContracts(db: Postgres): Promise<string[]> {
  return planMigrations(names, await appliedMigrations(db), { contracts: true })
}

/** The schema does not fit this program; the message names the command to run. */
export class SchemaError extends FatalError {
  override readonly name = 'SchemaError'
}

/** Throws a SchemaError if the schema is missing or too old, or if a newer program has removed what this one uses. */
export async function checkSchema(db: Postgres): Promise<void> {
  const misfit = misfitOf(names, await appliedMigrations(db))
  if (misfit === 'old')
    throw new SchemaError('the Postgres schema is missing or old: run `tally migrate` first')
  if (misfit === 'newer')
    throw new SchemaError('the Postgres schema is newer than this program: deploy the newer program')
}

async function appliedMigrations(db: Postgres): Promise<string[]> {
  const { rows: tables } = await sql<{
    found: boolean
  }>`select to_regclass('kysely_migration') is not null as found`.execute(db)
  if (tables[0]?.found !== true) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db)
  return rows.map(({ name }) => name)
}
