import { orderStatuses } from '@tally/contract'
import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder } from '@tally/testkit/records/decoded'
import { newEventId } from '@tally/testkit/records/records'
import { freshDatabase, type TestDatabase } from '@tally/testkit/servers/database'
import { until } from '@tally/testkit/until'
import { type Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCounters } from './counterScan.ts'
import { openPostgres } from './database.ts'
import { itemsOfBlock } from './items/table.ts'
import { checkSchema, migrate, migrations } from './migrate.ts'
import * as orderSlots from './migrations/0004-order-slots.ts'
import * as itemBlocks from './migrations/0006-item-blocks.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase({ migrated: false })
})
afterAll(() => database.drop())

/** A pool as `tally migrate` opens it. */
const openForMigrate = (url: string, name: string, lockTimeoutMs = 0) =>
  openPostgres(url, { name, max: 2, statementTimeoutMs: 30_000, lockTimeoutMs, onError: () => {} })

test('a database without the schema names the command to run', async () => {
  await expect(checkSchema(database.db)).rejects.toThrow('run `tally migrate` first')
})

test('concurrent migrations create the schema once', async () => {
  const others = Array.from({ length: 4 }, (_, i) => openForMigrate(database.url, `migrate-${i}`))
  const ran = await Promise.all(others.map(db => migrate(db)))
  await Promise.all(others.map(db => db.destroy()))
  expect(ran.filter(names => names.length > 0)).toHaveLength(1)
  await checkSchema(database.db)
})

test('a second run changes nothing', async () => {
  expect(await migrate(database.db)).toEqual([])
})

test('autovacuum collects no statistics of the arrays of item counters', async () => {
  const { rows } = await sql<{ name: string }>`
select attname as name from pg_attribute
where attrelid = 'item_counters'::regclass and atttypid = 'sixteen_counts'::regtype
  and attstattarget is distinct from 0`.execute(database.db)
  expect(rows).toEqual([])
})

test('order buckets are filled from the stored orders as the projector would have counted them', async () => {
  const eventId = newEventId()
  const orders = Array.from({ length: 200 }, (_, i) =>
    anOrder({
      eventId,
      orderId: `A-${i}`,
      status: orderStatuses[i % 7],
      dayId: 41 + (i % 2),
      areaId: 1 + (i % 3),
      orderDateTime: new Date(Date.parse('2026-09-04T18:00:00.250Z') + i * 47_777).toISOString(),
    }),
  )
  await countNewOrders(database.db, orders)
  await database.db
    .insertInto('orders')
    .values({ event_id: eventId, order_id: 'never-comes', version: 0, refunded_cents: 5 } as never)
    .execute()
  const slots = () =>
    sql`select * from order_slots order by event_id, slot, day_id, area_id`.execute(database.db)
  const { rows: counted } = await slots()
  expect(counted.length).toBeGreaterThan(100)

  await sql`drop table order_slots`.execute(database.db)
  await database.db.transaction().execute(tx => orderSlots.up(tx as unknown as Kysely<unknown>))
  expect((await slots()).rows).toEqual(counted)
})

test('item counters with one row each become blocks of sixteen', async () => {
  const [eventId, other] = [newEventId(), newEventId()]
  const sold = (orderId: string, menuItemId: number, quantity: number) =>
    anOrder({ eventId, orderId, items: [{ menuItemId, itemName: 'Item', quantity, unitPrice: 2.5 }] })
  const ids = [1, 15, 16, 17, 31, 32, 2_147_483_647]
  await countNewOrders(database.db, [
    ...ids.map((menuItemId, i) => sold(`A-${menuItemId}`, menuItemId, i + 1)),
    anOrder({ eventId: other }),
  ])
  const blocks = () =>
    sql`select * from item_counters order by event_id, day_id, area_id, block`.execute(database.db)
  const items = async () => [...(await readCounters(database.db, eventId)).values()]
  const { rows: counted } = await blocks()
  const before = await items()
  expect([...(before[0]?.get(0)?.items ?? [])].map(([id, { quantity }]) => [id, quantity])).toEqual(
    ids.map((id, i) => [id, i + 1]),
  )

  await sql`
create table by_item as
select event_id, day_id, area_id, item.* from item_counters as counter cross join ${itemsOfBlock}`.execute(
    database.db,
  )
  await sql`drop table item_counters; drop domain sixteen_counts`.execute(database.db)
  await sql`alter table by_item rename to item_counters`.execute(database.db)
  await database.db.transaction().execute(tx => itemBlocks.up(tx as unknown as Kysely<unknown>))
  expect((await blocks()).rows).toEqual(counted)
  expect(await items()).toEqual(before)
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
    const waits = async () => {
      const { rows } = await sql`
select 1 from pg_locks join pg_database on pg_database.oid = database
where not granted and datname = current_database()`.execute(tx)
      return rows.length > 0
    }
    await until('it waits for the lock', waits)
    await until('it has given up once', async () => !(await waits()))
  })
  expect(await migrating).toEqual([])
  expect([...refused]).toEqual([])
  await db.destroy()
})

test('while an upgrade waits for the lock of one table, batches have those of its earlier migrations', async () => {
  const old = await freshDatabase({ migrated: false })
  const older = Object.entries(migrations).filter(([name]) => name < '0014')
  const provider = { getMigrations: async () => Object.fromEntries(older) }
  await new Migrator({ db: old.db, provider }).migrateToLatest()
  const db = openForMigrate(old.url, 'migrate', 20_000)
  let migrating: Promise<string[]> | undefined
  await old.db.transaction().execute(async tx => {
    await sql`lock table item_counters in share update exclusive mode`.execute(tx)
    migrating = migrate(db)
    migrating.catch(() => undefined)
    await until('it waits for the lock', async () => {
      const { rows } = await sql`
select from pg_locks
where not granted and relation = 'item_counters'::regclass and mode = 'ShareUpdateExclusiveLock'`.execute(tx)
      return rows.length > 0
    })
    await sql`set local lock_timeout = 1`.execute(tx)
    const { rows } = await sql`select changed_at, is_removed from event_heads for update`.execute(tx)
    expect(rows).toEqual([])
  })
  expect(await migrating).toEqual(Object.keys(migrations).filter(name => name >= '0014'))
  await db.destroy()
  await old.drop()
})

const laterNames = async (...names: string[]) => {
  for (const name of names)
    await sql`insert into kysely_migration (name, timestamp) values (${name}, 'now')`.execute(database.db)
}

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
