import { checkSchema, migrate, openPostgres } from '@tally/read-models'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase({ migrated: false })
})
afterAll(() => database.drop())

test('a database without the schema names the command to run', async () => {
  await expect(checkSchema(database.db)).rejects.toThrow('run `tally migrate` first')
})

test('several migrations at once make the schema once', async () => {
  const others = Array.from({ length: 4 }, (_, i) =>
    openPostgres(database.url, {
      name: `migrate-${i}`,
      max: 2,
      statementTimeoutMs: 30_000,
      onError: () => {},
    }),
  )
  const ran = await Promise.all(others.map(db => migrate(db)))
  await Promise.all(others.map(db => db.destroy()))
  expect(ran.filter(names => names.length > 0)).toHaveLength(1)
  await checkSchema(database.db)
})

test('a second run changes nothing', async () => {
  expect(await migrate(database.db)).toEqual([])
})

test('revisions begin beyond those of any database that was there before', async () => {
  const { rows } = await sql<{ revision: number }>`select nextval('revisions') as revision`.execute(
    database.db,
  )
  const yesterdayUs = (Date.now() - 86_400_000) * 1000
  expect(rows[0]?.revision).toBeGreaterThan(yesterdayUs)
  expect(rows[0]?.revision).toBeLessThan(Number.MAX_SAFE_INTEGER)
})

test('a schema of a newer program is refused', async () => {
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', 'now')`.execute(database.db)
  await expect(checkSchema(database.db)).rejects.toThrow('deploy the newer program')
})
