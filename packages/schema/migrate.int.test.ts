import { amountColumns, type Counter, counterNames, counters, keyColumns } from '@tally/figures'
import { databaseOfFile, freshDatabase, untilLocked } from '@tally/testkit/servers/database'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { expect, test } from 'vitest'
import { openPostgres } from './database.ts'
import { checkSchema, migrate, migrations } from './migrate.ts'
import { isContract } from './schemaSteps.ts'

const database = await databaseOfFile({ migrated: false })

/** A pool as `tally migrate` opens it. */
const openForMigrate = (url: string, name: string, lockTimeoutMs = 0) =>
  openPostgres(url, { name, max: 2, statementTimeoutMs: 30_000, lockTimeoutMs, onError: () => {} })

test('concurrent migrations create the schema once', async () => {
  const ran = await migrateAtOnce(database.url)
  expect(ran.filter(names => names.length > 0)).toHaveLength(1)
})

test('concurrent upgrades run each migration once, and none ends before the schema has this version', async () => {
  const old = await databaseBefore('0017')
  const ran = await migrateAtOnce(old.url)
  expect(ran.flat().toSorted()).toEqual(expansions.filter(name => name >= '0017'))
  await old.drop()
})

test('a database on which an earlier state of this version ran all its steps goes on', async () => {
  const old = await freshDatabase({ migrated: false })
  const earlier = Object.entries(migrations).filter(([name]) => !name.includes('-order-'))
  const provider = { getMigrations: async () => Object.fromEntries(earlier) }
  await new Migrator({ db: old.db, provider }).migrateToLatest()
  expect((await migrateAtOnce(old.url)).flat()).toEqual(['0024-order-buckets'])
  await old.drop()
})

/** Four runs at once, each of which finds the schema of this version when it ends; returns what each ran. */
function migrateAtOnce(url: string): Promise<string[][]> {
  const run = async (number: number) => {
    const db = openForMigrate(url, `migrate-${number}`)
    try {
      const ran = await migrate(db)
      await checkSchema(db)
      return ran
    } finally {
      await db.destroy()
    }
  }
  return Promise.all([1, 2, 3, 4].map(run))
}

/** A database with the migrations whose names come before this one, and one of 0.2.0 that the baseline contains. */
async function databaseBefore(first: string) {
  const old = await freshDatabase({ migrated: false })
  const older = Object.entries(migrations).filter(([name]) => name < first)
  const inBaseline = { '0001-read-models': { up: async () => {} } }
  const provider = { getMigrations: async () => ({ ...inBaseline, ...Object.fromEntries(older) }) }
  await new Migrator({ db: old.db, provider }).migrateToLatest()
  return old
}
const expansions = Object.keys(migrations).filter(name => !isContract(name))

test.for(counterNames)('the table of the %s counters has exactly the declared columns', async name => {
  const counter: Counter = counters[name]
  const types = [...Object.values(counter.key), ...Object.values(counter.amounts)].map(type => sqlTypes[type])
  const columns = [...keyColumns(counter), ...amountColumns(counter)].map((column, index) => {
    const isBlock = counter.blocks !== undefined && index >= keyColumns(counter).length
    return `${column} ${isBlock ? 'sixteen_counts' : types[index]}`
  })
  const { rows } = await sql<{ column: string; isKey: boolean }>`
select attname || ' ' || format_type(atttypid, atttypmod) as column,
  attnum = any((select conkey from pg_constraint where conrelid = attrelid and contype = 'p')::smallint[]) as "isKey"
from pg_attribute where attrelid = ${counter.table}::regclass and attnum > 0 and not attisdropped
order by attnum`.execute(database.db)
  expect(rows.map(({ column }) => column)).toEqual(['event_id uuid', ...columns])
  expect(rows.filter(({ isKey }) => isKey)).toEqual(rows.slice(0, 1 + keyColumns(counter).length))
})
const sqlTypes = { int: 'integer', bigint: 'bigint', time: 'bigint', text: 'text' }

test('autovacuum collects no statistics of the arrays of item counters', async () => {
  const { rows } = await sql<{ name: string }>`
select attname as name from pg_attribute
where attrelid = 'item_counters'::regclass and atttypid = 'sixteen_counts'::regtype
  and attstattarget is distinct from 0`.execute(database.db)
  expect(rows).toEqual([])
})

test('revisions begin above those of any earlier database', async () => {
  const { rows } = await sql<{ revision: number }>`select nextval('revisions') as revision`.execute(
    database.db,
  )
  const yesterdayUs = (Date.now() - 86_400_000) * 1000
  expect(rows[0]?.revision).toBeGreaterThan(yesterdayUs)
  expect(rows[0]?.revision).toBeLessThan(Number.MAX_SAFE_INTEGER)
})

test('a lock that a migration cannot have in time is tried again', async () => {
  const db = openForMigrate(database.url, 'migrate', 50)
  const refused = new Set<string>()
  let migrating: Promise<string[]> | undefined
  await database.db.transaction().execute(async tx => {
    await sql`lock table kysely_migration in access exclusive mode`.execute(tx)
    migrating = migrate(db)
    migrating.catch(error => refused.add(String(error)))
    await untilLocked(database.db, 1)
    // It has given up once.
    await untilLocked(database.db, 0)
  })
  expect(await migrating).toEqual([])
  expect([...refused]).toEqual([])
  await db.destroy()
})

test('while an upgrade waits for the lock of one table, batches have those of its earlier migrations', async () => {
  const old = await databaseBefore('0017')
  const db = openForMigrate(old.url, 'migrate', 20_000)
  let migrating: Promise<string[]> | undefined
  await old.db.transaction().execute(async tx => {
    await sql`lock table screen_links in access share mode`.execute(tx)
    migrating = migrate(db)
    migrating.catch(() => undefined)
    await until('it waits for the lock', async () => {
      const { rows } = await sql`
select from pg_locks
where not granted and relation = 'screen_links'::regclass and mode = 'AccessExclusiveLock'`.execute(tx)
      return rows.length > 0
    })
    await sql`set local lock_timeout = 1`.execute(tx)
    const { rows } = await sql`select redis_bytes from event_heads for update`.execute(tx)
    expect(rows).toEqual([])
  })
  expect(await migrating).toEqual(expansions.filter(name => name >= '0017'))
  await db.destroy()
  await old.drop()
})

const laterNames = async (...names: string[]) => {
  for (const name of names)
    await sql`insert into kysely_migration (name, timestamp) values (${name}, ${new Date().toISOString()})`.execute(
      database.db,
    )
}

test('a database of a version before 0.2.0 goes through 0.2.0', async () => {
  const old = await databaseBefore('0014')
  await expect(migrate(old.db)).rejects.toThrow('run `tally migrate` of 0.2.0 first')
  await old.drop()
})

test('a schema that a newer program has only expanded is accepted, and migrate leaves it as it is', async () => {
  await laterNames('9998-expanded')
  await checkSchema(database.db)
  expect(await migrate(database.db)).toEqual([])
})

test('a schema that a newer program has contracted is refused', async () => {
  await laterNames('9999-contract-old')
  await expect(checkSchema(database.db)).rejects.toThrow('deploy the newer program')
  await expect(migrate(database.db)).rejects.toThrow('deploy the newer program')
})
