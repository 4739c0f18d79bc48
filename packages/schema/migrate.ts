import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FatalError, type Postgres, type ProcessName } from '@tally/platform'
import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { checkRights, grantRoles } from './roles.ts'
import { isContract, misfitOf, planMigrations } from './schemaSteps.ts'

/** Contains the migrations before it, which databases of 0.2.0 name as well. */
const baselineName = '0016-column-statistics'
const doesNothing: Migration = { up: async () => undefined }

/**
 * The files of `migrations`, in the order of their names; one that has been released is never changed. Those whose
 * names contain `-contract-` are contract steps, and all others only expand (schemaSteps.ts).
 */
export const migrations: Record<string, Migration> = Object.fromEntries(
  await Promise.all(
    readdirSync(join(import.meta.dirname, 'migrations'))
      .flatMap(file => /^(\d{4}-[\w-]+)\.ts$/.exec(file)?.[1] ?? [])
      .sort()
      .map(async name => [
        name === '0016-baseline' ? baselineName : name,
        (await import(`./migrations/${name}.ts`)) as Migration,
      ]),
  ),
)
const names = Object.keys(migrations)

/** A statement waited for a lock longer than its session allows, or was the one that a deadlock ended. */
const lockErrors = new Set<unknown>(['55P03', '40P01'])
const lockRetryMs = 1_000
const lockAttempts = 200

/**
 * Migrates the schema to this version, or, if a newer version has expanded it, does nothing; returns the names of the
 * migrations that ran. Without `contracts`, the schema is only expanded, so that processes of the previous version can
 * go on (planMigrations). Concurrent calls are safe: kysely holds a lock in Postgres during each step, so that `db`
 * needs two connections. Tries again if a lock was not available in time: a table that waits for its lock holds up
 * everyone else who needs it. `onRan` is called with each name once it is committed, also if a later one fails. The
 * roles of the services get their rights.
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
      if (!lockErrors.has((error as { code?: unknown }).code) || attempt === lockAttempts) throw error
      await sleep(lockRetryMs)
    }
  }
}

/**
 * Runs the next migrations, and returns their names; none if the schema has this version. While processes run, that is
 * one, committed by itself, so that none holds a table's lock while it waits for another's. All run at once on an empty
 * database, and if contract steps are among them: after a part of them, planMigrations could not tell that an upgrade
 * skips a version. kysely asks for the migrations once it has its lock: a concurrent call runs none meanwhile.
 */
async function migrateStep(db: Postgres, contracts: boolean): Promise<string[]> {
  const getMigrations = async () => {
    const applied = await appliedMigrations(db)
    const step = await nextStep(db, applied, contracts)
    return Object.fromEntries([...applied, ...step].map(name => [name, migrations[name] ?? doesNothing]))
  }
  // A name of this version may come before one that an earlier state of the version has run.
  const migrator = new Migrator({ db, provider: { getMigrations }, allowUnorderedMigrations: true })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
  return results.map(({ migrationName }) => migrationName)
}

async function nextStep(db: Postgres, applied: string[], contracts: boolean): Promise<string[]> {
  if (applied.length > 0 && !applied.includes(baselineName))
    throw new SchemaError(
      'the Postgres schema is of a version before 0.2.0: run `tally migrate` of 0.2.0 first',
    )
  if (applied.some(name => name > baselineName && !names.includes(name))) {
    await checkSchema(db)
    return []
  }
  const planned = planMigrations(names, applied, { contracts })
  return applied.length === 0 || planned.some(isContract) ? planned : planned.slice(0, 1)
}

/** The contract steps of this version that have not run (docs/operations.md, Upgrades). */
export async function leftContracts(db: Postgres): Promise<string[]> {
  return planMigrations(names, await appliedMigrations(db), { contracts: true })
}

/** The schema does not fit this program; the message names the command to run. */
export class SchemaError extends FatalError {
  override readonly name = 'SchemaError'
}

/**
 * Throws a SchemaError if the schema is missing or too old, or if a newer program has removed what this one uses; for a
 * service also a FatalError if this role lacks its rights.
 */
export async function checkSchema(db: Postgres, service?: ProcessName): Promise<void> {
  if (service !== undefined) await checkRights(db, service)
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
