import { eventExample } from '@tally/contract'
import type { Client } from 'pg'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { judge, openShopDatabase, type ShopDatabase, writtenBy } from './shopDatabase.ts'

/** docs/guides/outbox: whatever a transaction does, its last record is whole, and no version has two records. */
let shop: ShopDatabase | undefined
let sql: Client
const { eventId, organizationId } = eventExample

beforeEach(async () => {
  await shop?.drop()
  shop = await openShopDatabase()
  sql = await shop.connect()
  await run(`insert into organizations (id, name, status) values ('${organizationId}', 'Pro Loco', 'Trial')`)
  await run(`insert into events (id, organization_id, name, starts_at)
    values ('${eventId}', '${organizationId}', 'Sagra', '2026-09-04 18:00+02')`)
})
afterAll(() => shop?.drop())

const run = (text: string, session = sql) => session.query(text)
const order = (id: number) =>
  `insert into orders (id, event_id, day_id, area_id, number, status, total) overriding system value
   values (${id}, '${eventId}', 41, 1, '${id}', 'Paid', 10)`
const line = (order: number, position: number) =>
  `insert into lines values (${order}, ${position}, 7, 'Fritto misto', 1, 5)`
const refund = `insert into refunds (order_id, amount) values (1, 5)`
const refundLine = (position: number) => `insert into refund_lines values (1, ${position}, 7, 1, 5)`
const immediate = 'set constraints all immediate'
const deferred = 'set constraints all deferred'

test('an order and its lines are one record', async () => {
  await run(['begin', order(1), line(1, 1), line(1, 2), 'commit'].join(';'))
  expect(await linesWritten(1)).toEqual([2])
})

/** Statements of one transaction, and how many lines each order must have in its last record. */
const transactions: Record<string, { steps: string[]; lines: Record<number, number> }> = {
  'constraints made immediate between the order and its lines': {
    steps: [order(1), immediate, deferred, line(1, 1), line(1, 2)],
    lines: { 1: 2 },
  },
  'constraints that stay immediate': {
    steps: [immediate, order(1), line(1, 1), line(1, 2), 'delete from lines where position = 1'],
    lines: { 1: 1 },
  },
  'constraints made immediate twice, and lines that change in between': {
    steps: [
      ...[order(1), line(1, 1), immediate, deferred, line(1, 2), immediate, deferred],
      ...['update lines set quantity = 3', 'delete from lines where position = 1'],
    ],
    lines: { 1: 1 },
  },
  'lines of a savepoint that is rolled back': {
    steps: [order(1), line(1, 1), 'savepoint a', line(1, 2), 'rollback to a'],
    lines: { 1: 1 },
  },
  'lines after a savepoint that is rolled back': {
    steps: [order(1), 'savepoint a', line(1, 1), 'rollback to a', line(1, 1), line(1, 2)],
    lines: { 1: 2 },
  },
  'an order of a savepoint': {
    steps: ['savepoint a', order(1), 'release a', 'savepoint b', line(1, 1), 'release b', line(1, 2)],
    lines: { 1: 2 },
  },
  'a record that is written in a savepoint which is rolled back': {
    steps: [
      ...[order(1), line(1, 1), 'savepoint a', line(1, 2), immediate, 'rollback to a'],
      ...['savepoint b', line(1, 3), line(1, 4), immediate, 'release b'],
    ],
    lines: { 1: 3 },
  },
  'a line that is moved to another order': {
    steps: [
      ...[order(1), order(2), line(1, 1), line(1, 2), immediate, deferred],
      'update lines set order_id = 2 where position = 2',
    ],
    lines: { 1: 1, 2: 1 },
  },
  'copy, after constraints were made immediate': {
    steps: [
      ...[order(1), immediate, deferred],
      String.raw`copy lines from program $$printf '1\t1\t7\tx\t1\t5\t\\N\n1\t2\t7\tx\t-1\t5\t\\N\n'$$`,
    ],
    lines: { 1: 2 },
  },
  'an order and its lines in one statement': {
    steps: [
      `with taken as (
         insert into orders (event_id, day_id, area_id, number, status, total)
         values ('${eventId}', 41, 1, '1', 'Paid', 10) returning id
       )
       insert into lines select id, n, 7, 'Fritto misto', 1, 5 from taken, generate_series(1, 3) n`,
    ],
    lines: { 1: 3 },
  },
  'lines that come before their order': {
    steps: [
      'alter table lines alter constraint lines_order_id_fkey deferrable initially deferred',
      ...[line(1, 1), line(1, 2), order(1), immediate, deferred, line(1, 3)],
    ],
    lines: { 1: 3 },
  },
}

test.each(Object.entries(transactions))('%s', async (_, { steps, lines }) => {
  await run('begin')
  for (const step of steps) await run(step)
  await run('commit')
  await expectComplete()
  for (const [id, count] of Object.entries(lines)) expect((await linesWritten(Number(id))).at(-1)).toBe(count)
})

test('lines that change, move or go in later transactions are sent', async () => {
  await run(`begin; ${order(1)}; ${order(2)}; ${line(1, 1)}; ${line(1, 2)}; ${line(1, 3)}; commit`)
  await run('update lines set quantity = -2 where position = 1')
  await run('update lines set order_id = 2 where position = 2')
  await run('delete from lines where position = 3')
  await expectComplete()
  expect((await linesWritten(1)).at(-1)).toBe(1)
  expect((await linesWritten(2)).at(-1)).toBe(1)
})

test('areas, days and menu items that follow their event in a transaction are sent', async () => {
  await run(`begin; update events set name = 'Sagra del Pesce'; ${immediate}; ${deferred};
    insert into areas values ('${eventId}', 1, 'Kitchen');
    insert into days values ('${eventId}', 41, '2026-09-04', '2026-09-04 18:00+02');
    insert into menu_items values ('${eventId}', 7, 'Fritto misto', 'Fish'); commit`)
  await expectComplete()
  expect(JSON.parse((await writtenBy(sql, 'events')).at(-1)?.value ?? '')).toMatchObject({
    areas: [{ areaId: 1 }],
    days: [{ dayId: 41 }],
    menuItems: [{ menuItemId: 7 }],
  })
})

test('lines that follow their refund in a transaction are sent, and a refund that failed is taken back', async () => {
  await run(
    `begin; ${order(1)}; ${line(1, 1)}; ${refund}; ${immediate}; ${deferred}; ${refundLine(1)}; commit`,
  )
  await expectComplete()
  await run('begin; update refunds set amount = 0; delete from refund_lines; commit')
  await expectComplete()
  const values = (await writtenBy(sql, 'refunds')).map(({ value }) => JSON.parse(value))
  expect(values.map(({ version, amount, lines }) => [version, amount, lines.length])).toEqual([
    [1, 5, 0],
    [2, 5, 1],
    [4, 0, 0],
  ])
})

test.each(['read committed', 'repeatable read', 'serializable'])(
  'two sessions that add lines to one order, %s',
  async isolation => {
    const other = await (shop as ShopDatabase).connect()
    await run(order(1))
    for (const session of [sql, other])
      await run(`begin isolation level ${isolation}; select from orders`, session)
    await run(line(1, 1))
    const second = run(line(1, 2), other).then(
      () => 'stored',
      error => error.code,
    )
    await run('commit')
    // One that began before the other's commit must begin again.
    const wanted = isolation === 'read committed' ? 'stored' : serializationFailure
    expect(await second).toBe(wanted)
    await run('commit', other)
    if (wanted === serializationFailure) await run(line(1, 2), other)
    await expectComplete()
    expect((await linesWritten(1)).at(-1)).toBe(2)
  },
)

test.each(['read committed', 'repeatable read'])(
  'two sessions cannot exceed a limit together, %s',
  async isolation => {
    const other = await (shop as ShopDatabase).connect()
    await run(order(1))
    const lines = (from: number) =>
      `insert into lines select 1, n, 7, 'x', 1, 0 from generate_series(${from}, ${from + 299}) n`
    for (const session of [sql, other])
      await run(`begin isolation level ${isolation}; select from orders`, session)
    await run(lines(1))
    const second = run(lines(301), other).then(() => run('commit', other))
    const refused = expect(second).rejects.toThrow(/at_most_500_lines|could not serialize/)
    await run('commit')
    await refused
    await run('rollback', other)
    await expectComplete()
    expect((await linesWritten(1)).at(-1)).toBe(300)
  },
)

test('what Tally could never take back is refused', async () => {
  await run(`begin; ${order(1)}; ${order(2)}; ${refund}; commit`)
  for (const [statement, advice] of [
    ['delete from orders where id = 2', 'set the status to Cancelled'],
    ['update orders set id = default where id = 2', 'make another order'],
    ['update orders set event_id = gen_random_uuid()', 'make another order'],
    ['update events set organization_id = gen_random_uuid()', 'make another event'],
    ['update refunds set order_id = 2', 'make another refund'],
    ['delete from refunds', 'set the amount to 0'],
  ] as const)
    await expect(run(statement), statement).rejects.toThrow(advice)
})

const serializationFailure = '40001'

/** How many lines the order has in each record that was written of it. */
async function linesWritten(id: number): Promise<number[]> {
  const values = (await writtenBy(sql, 'orders')).map(({ value }) => JSON.parse(value))
  return values.filter(({ orderId }) => orderId === String(id)).map(({ items }) => items.length)
}

/** The last record of every order, event and refund says what the tables say; no version is twice; Tally takes all. */
async function expectComplete(): Promise<void> {
  const views = ['organization', 'event', 'order', 'refund'].map(
    type => `select '${type}s' as type, key, payload::text as value from ${type}_records`,
  )
  const { rows } = await sql.query(views.join(' union all '))
  const written = await writtenBy(sql)
  const last = new Map(written.map(record => [identityOf(record), record]))
  expect([...last.values()].sort(byValue)).toEqual(rows.sort(byValue))
  const versions = written.map(record => `${identityOf(record)} ${JSON.parse(record.value).version}`)
  expect(new Set(versions).size).toBe(versions.length)
  expect(written.filter(record => judge(record).outcome === 'rejected')).toEqual([])
}

type Row = { type: string; value: string }

function identityOf({ type, value }: Row): string {
  const { organizationId, eventId, orderId, refundId } = JSON.parse(value)
  return `${type} ${refundId ?? orderId ?? eventId ?? organizationId}`
}

const byValue = (one: Row, other: Row) => (one.value < other.value ? -1 : 1)
