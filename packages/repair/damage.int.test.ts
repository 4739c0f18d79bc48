import type { EventId, OrganizationId } from '@tally/contract'
import { type Counter, columnOf, counters } from '@tally/figures'
import { topicNames } from '@tally/kafka'
import { oracle } from '@tally/testkit/oracle/oracle'
import { expectAllAnswers } from '@tally/testkit/oracle/questions'
import { useTally } from '@tally/testkit/processes/tally'
import { CompiledQuery } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { rebuild } from './rebuild/rebuild.ts'
import { aBusyFestival, damage, expectClean, keysOf, rebuildAll, verifyAll } from './test/damage.ts'

const tally = useTally()
const { festival, records } = aBusyFestival()
const eventId = festival.eventId as EventId
const organizationId = festival.organizationId as OrganizationId
const where = `event_id = '${eventId}'`
const ofEvent = () => keysOf(tally).event(eventId)
const ofOrganization = () => keysOf(tally).organization(organizationId)

let isCounted = false
/** Everything is counted correctly. */
async function given(): Promise<void> {
  if (isCounted) return
  await tally.count(records)
  isCounted = true
  await expectClean(tally)
}

/** Every answer equals the oracle's, and nothing differs. */
async function expectHealed(): Promise<void> {
  await expectClean(tally)
  const token = await tally.key(organizationId)
  await expectAllAnswers(tally, eventId, oracle(records), token)
}

afterAll(async () => {
  // Nothing is left over that the next run would take for its own.
  if (isCounted) await expectClean(tally)
})

type Case = {
  rule: string
  harm: () => Promise<unknown>
  finds: Record<string, unknown>[]
  /** Set if a running projector would repair it within a minute (walk.ts). */
  isHealed?: boolean
}
const ahead = 9_000_000_000_000_000
const unknown = '00000000-0000-4000-8000-000000000001'
const postgres = (statement: string) => damage(tally, statement)
const bucketAt = (time: string) => Math.floor(Date.parse(`2026-09-04T${time}:00Z`) / 300_000)

const damagedCounters = Object.values<Counter>(counters).map(({ table, amounts, blocks }) => ({
  table,
  columns: Object.keys(amounts).map(columnOf),
  isBlocks: blocks !== undefined,
}))
const damageOf = (table: string, column: string) =>
  new RegExp(
    `^${table} (order_bucket \\d+ )?day 41 area 1( bucket [\\dT:-]+Z| item \\d+| payment_method ".*")? ${column}$`,
  )

const cases: Case[] = [
  {
    rule: 'each amount of each counter that was changed',
    harm: async () => {
      for (const { table, columns, isBlocks } of damagedCounters) {
        const more = columns.map((column, index) =>
          isBlocks
            ? `${column}[8] = ${column}[8] + ${100 + index}`
            : `${column} = ${column} + ${100 + index}`,
        )
        await postgres(`update ${table} set ${more} where ${where} and day_id = 41 and area_id = 1`)
      }
    },
    finds: damagedCounters.flatMap(({ table, columns }) =>
      columns.map(column => ({ where: 'postgres', what: expect.stringMatching(damageOf(table, column)) })),
    ),
  },
  {
    rule: 'counters of an item and of a day without sales',
    harm: async () => {
      const item99 = (number: number) =>
        `'{${Array.from({ length: 16 }, (_, i) => (i === 99 % 16 ? number : 0))}}'`
      const numbers = [1, 2, 300, 0, 0].map(item99)
      await postgres(`insert into item_counters values ('${eventId}', 41, 0, ${99 >> 4}, ${numbers})`)
      await postgres(`insert into daily_counters values ('${eventId}', 77, 3, 0, 0, 5, 0, 0, 0, 0, 500, 5)`)
    },
    finds: [
      { what: 'item_counters day 41 area 0 item 99 quantity', found: 2, counted: 0 },
      { what: 'daily_counters day 77 area 3 paid', found: 5, counted: 0 },
    ],
  },
  {
    rule: 'time buckets of the list of orders that were lost and invented',
    harm: async () => {
      await postgres(`delete from order_buckets where ${where} and order_bucket = ${bucketAt('16:00')}`)
      await postgres(`insert into order_buckets values ('${eventId}', 7, 77, 3, 0, 0, 0, 0, 0, 2, 0)`)
    },
    finds: [
      { what: `order_buckets order_bucket ${bucketAt('16:00')} day 41 area 1 pending`, found: 0, counted: 1 },
      { what: 'order_buckets order_bucket 7 day 77 area 3 completed', found: 2, counted: 0 },
    ],
  },
  {
    rule: 'all counters of an event that are missing',
    harm: async () => {
      for (const { table } of damagedCounters) await postgres(`delete from ${table} where ${where}`)
    },
    finds: [{ what: 'item_counters day 42 area 2 item 7 refunded_quantity', found: 0 }],
  },
  {
    rule: 'refund sums that were changed, emptied, invented and lost',
    harm: async () => {
      await postgres(`update orders set refunded_cents = 1 where ${where} and order_id = 'A-00001'`)
      await postgres(
        `update orders set refunded_cents = 0, refunded_lines = null where ${where} and order_id = 'A-00006'`,
      )
      await postgres(
        `update orders set refunded_cents = 5, refunded_lines = '[]' where ${where} and order_id = 'A-00002'`,
      )
      await postgres(`delete from orders where ${where} and order_id = 'never-comes'`)
    },
    finds: [
      { what: 'orders A-00001 refunded_cents', found: 1, counted: 1250 },
      { what: 'orders A-00006 refunded_lines', found: null },
      { what: 'orders A-00002 refunded_cents', found: 5, counted: 0 },
      { what: 'orders never-comes refunded_cents', found: null, counted: 1250 },
    ],
  },
  {
    rule: 'a document with another value, a missing one and a surplus one',
    harm: async () => {
      const fields = { 'kpis:41:0': '{"totalOrders":1}', 'items:77:1': '[{"menuItemId":1}]', version: '77' }
      await tally.redis.hset(ofEvent(), fields)
      await tally.redis.hdel(ofEvent(), 'hours:42:2', 'complete')
    },
    finds: [
      { where: 'redis', what: 'kpis:41:0', found: { totalOrders: 1 } },
      { where: 'redis', what: 'items:77:1', counted: null },
      { where: 'redis', what: 'hours:42:2', found: null },
      { where: 'redis', what: 'complete', found: null, counted: 2 },
      { where: 'redis', what: 'version', found: 77, counted: 1 },
    ],
  },
  {
    rule: 'a Redis that stays at an older revision',
    isHealed: true,
    harm: () => tally.redis.hset(ofEvent(), 'revision', '5', 'kpis:41:0', '{}'),
    finds: [{ where: 'redis', what: 'revision', found: '5' }],
  },
  {
    rule: 'a Redis that is ahead of Postgres, with content of no record',
    isHealed: true,
    harm: () => tally.redis.hset(ofEvent(), 'revision', String(ahead), 'kpis:41:0', '{}'),
    finds: [{ where: 'redis', what: 'revision', found: String(ahead) }],
  },
  {
    rule: 'an event that is not in Redis',
    isHealed: true,
    harm: () => tally.redis.del(ofEvent()),
    finds: [{ where: 'redis', what: 'revision', found: null }],
  },
  {
    rule: 'a key of the wrong type, and a revision that is not a number',
    harm: async () => {
      await tally.redis.set(ofEvent(), 'x')
      await tally.redis.hset(ofOrganization(), 'revision', 'x')
    },
    finds: [
      { event: eventId, what: 'its key' },
      { organization: organizationId, what: 'revision', found: 'x' },
    ],
  },
  {
    rule: 'an organization with another status and list of events, and an unknown one',
    harm: async () => {
      await tally.redis.hset(ofOrganization(), 'status', 'Trial', 'events', '[]')
      await tally.redis.hset(keysOf(tally).organization(unknown as OrganizationId), 'revision', '1')
      await tally.redis.hset(keysOf(tally).event(unknown as EventId), 'revision', '1')
    },
    finds: [
      { organization: organizationId, what: 'status', found: 'Trial', counted: 'ActiveDayPass' },
      { organization: organizationId, what: 'events', found: [] },
      { organization: unknown, what: 'its key', counted: null },
      { event: unknown, what: 'its key', counted: null },
    ],
  },
]

test.for(cases)('verify finds $rule, and rebuild repairs it', async ({ harm, finds, isHealed }) => {
  await given()
  if (isHealed) await tally.projectors.pop()?.end()
  await harm()
  const { code, lines } = await verifyAll(tally)
  expect(code).toBe(1)
  for (const one of finds) expect(lines).toContainEqual(expect.objectContaining(one))
  await rebuildAll(tally)
  await expectHealed()
  if (isHealed) await tally.startProjector()
})

test('an event whose damaged orders are written faster than counted is counted under its lock', async () => {
  await given()
  const write = () => postgres(`update orders set refunded_cents = 1 where ${where} and order_id = 'A-00001'`)
  const topics = topicNames(tally.settings.TOPIC_PREFIX ?? '')
  const locking = new WeakSet<object>()
  const db = tally.database.db.withPlugin({
    transformQuery({ node, queryId }) {
      const text = JSON.stringify(node)
      if (text.includes('for update') && text.includes(topics.events)) locking.add(queryId)
      return node
    },
    async transformResult({ result, queryId }) {
      if (locking.has(queryId)) await write()
      return result
    },
  })
  await write()
  const deps = { db, redis: tally.redis, keys: keysOf(tally) }
  expect(await rebuild(deps, { topics })).toEqual({ events: 1, repaired: 1 })
  await expectHealed()
})

test('a rebuild deletes counters in which no order counts any more', async () => {
  await given()
  const moved = [3, 1].map((areaId, index) =>
    festival.order({ orderId: 'moves', version: 1 + index, areaId }),
  )
  for (const version of moved) await tally.count([version])
  records.push(...moved)
  const ofArea3 = () =>
    Promise.all(
      damagedCounters.map(({ table }) =>
        tally.database.db
          .executeQuery(CompiledQuery.raw(`select from ${table} where ${where} and area_id = 3`))
          .then(({ rows }) => rows.length),
      ),
    )
  expect(await ofArea3()).toEqual([1, 1, 1, 1, 1])
  await rebuildAll(tally)
  expect(await ofArea3()).toEqual([0, 0, 0, 0, 0])
  await expectHealed()
})

test('verify of correct figures prints no difference and says how many events it compared', async () => {
  await given()
  expect(await verifyAll(tally)).toEqual({
    code: 0,
    lines: [],
    stderr: 'verify: 1 event compared, 0 differences\n',
  })
})
