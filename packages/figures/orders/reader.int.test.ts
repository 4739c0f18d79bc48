import {
  type OrderAnswer,
  type OrderId,
  type OrderStatus,
  order,
  orderExample,
  orderStatuses,
} from '@tally/contract'
import { presentOrder } from '@tally/testkit/oracle/present'
import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder } from '@tally/testkit/records/decoded'
import { newEventId } from '@tally/testkit/records/records'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { storeRefundSums } from '../refunds.ts'
import { scanDay } from './dayOrders.ts'
import {
  countOrders,
  findPageBuckets,
  type OrderFilter,
  type PageAsked,
  readOrderPage,
  readStoredOrder,
} from './reader.ts'

const database = await databaseOfFile()
const eventId = newEventId()
const base = Date.parse('2026-09-04T18:00:00Z')

/** 70 orders: every status, two days, two areas; several at the same time. */
const orders = Array.from({ length: 70 }, (_, i) =>
  anOrder({
    eventId,
    orderId: `${'aBZ~'[i % 4]}-${i}`,
    status: orderStatuses[i % 7],
    dayId: 41 + (i % 2),
    areaId: 1 + (i % 3 === 0 ? 1 : 0),
    orderDateTime: new Date(base + Math.floor(i / 5) * 60_000).toISOString(),
  }),
)

beforeAll(async () => {
  await countNewOrders(database.db, orders)
  await countNewOrders(database.db, [anOrder({ orderId: 'other-event' })])
})

const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))
const everything: OrderFilter = { eventId, dayId: undefined, areaId: undefined, status: undefined }

function expected({ dayId, areaId, status }: OrderFilter): string[] {
  return orders
    .filter(order => (status === undefined ? order.status !== 'Cancelled' : order.status === status))
    .filter(order => dayId === undefined || order.dayId === dayId)
    .filter(order => areaId === undefined || order.areaId === areaId)
    .sort((one, other) => other.orderDateTime - one.orderDateTime || byBytes(other.orderId, one.orderId))
    .map(({ orderId }) => orderId)
}

/** A page of any size. */
async function readOrders(filter: OrderFilter, asked: Omit<PageAsked, 'mostBytes'>): Promise<string[]> {
  const page = await readOrderPage(database.db, filter, { ...asked, mostBytes: 1_000_000 })
  return page.orders?.map(parts => parts.join('')) ?? expect.fail('the page is too large')
}
const idsOf = (page: string[]) => page.map(text => (JSON.parse(text) as OrderAnswer).id)
const days = [undefined, 41, 42, 43]
const areas = [undefined, 1, 2, 3]
const statuses: (OrderStatus | undefined)[] = [undefined, ...orderStatuses]

test('every filter keeps its orders, newest first, then by id in byte order, and counts as many', async () => {
  for (const dayId of days) {
    for (const areaId of areas) {
      for (const status of statuses) {
        const filter = { eventId, dayId, areaId, status }
        for (const deep of [0, 1_000]) {
          const page = await readOrders(filter, { offset: 0, limit: 100, deep })
          expect(idsOf(page)).toEqual(expected(filter))
        }
        expect(await countOrders(database.db, filter)).toBe(expected(filter).length)
      }
    }
  }
})

test.each([0, 20, 1_000])(
  'pages follow each other without a gap or a repeat, those from offset %i on by order buckets; one beyond the last is empty',
  async deep => {
    for (const status of [undefined, 'Paid', 'Cancelled'] as const) {
      for (const areaId of areas) {
        const filter = { ...everything, status, areaId }
        for (const limit of [1, 7, 30]) {
          const all: string[] = []
          for (let offset = 0; offset < 70; offset += limit)
            all.push(...idsOf(await readOrders(filter, { offset, limit, deep })))
          expect(all).toEqual(expected(filter))
        }
        expect(await readOrders(filter, { offset: 700, limit: 7, deep })).toEqual([])
      }
    }
  },
)

test('only the buckets of a page are read, whatever lies before and after them', async () => {
  const until = (minute: number) => base + minute * 60_000
  const listed = (from: number, to: number) =>
    expected(everything).filter(id => {
      const at = orders.find(({ orderId }) => orderId === id)?.orderDateTime ?? 0
      return at >= until(from) && at < until(to)
    }).length
  const [newest, middle] = [listed(10, 15), listed(5, 10)]
  const find = (offset: number, limit: number) => findPageBuckets(database.db, everything, { offset, limit })
  expect(await find(newest - 1, 1)).toEqual({ sinceMs: until(10), untilMs: until(15), skipped: newest - 1 })
  expect(await find(newest, 1)).toEqual({ sinceMs: until(5), untilMs: until(10), skipped: 0 })
  expect(await find(newest + middle - 1, 2)).toEqual({
    sinceMs: until(0),
    untilMs: until(10),
    skipped: middle - 1,
  })
  expect(await find(60, 1)).toBeUndefined()
})

test('buckets without matching orders are not read, not even by the last page', async () => {
  const eventId = newEventId()
  await countNewOrders(database.db, [
    anOrder({ eventId, orderId: 'older', status: 'Cancelled', orderDateTime: '2026-09-04T18:00:00Z' }),
    anOrder({ eventId, orderId: 'newer', orderDateTime: '2026-09-04T18:10:00Z' }),
  ])
  expect(await findPageBuckets(database.db, { ...everything, eventId }, { offset: 0, limit: 20 })).toEqual({
    sinceMs: base + 10 * 60_000,
    untilMs: base + 15 * 60_000,
    skipped: 0,
  })
})

test('a page is found even if no bucket is counted', async () => {
  const eventId = newEventId()
  await countNewOrders(database.db, [anOrder({ eventId })])
  await sql`delete from order_buckets where event_id = ${eventId}`.execute(database.db)
  const page = await readOrders({ ...everything, eventId }, { offset: 0, limit: 9, deep: 0 })
  expect(idsOf(page)).toEqual(['A-1'])
})

test('a page whose lines are too large is measured, not read', async () => {
  const of = newEventId()
  const items = (count: number) =>
    Array.from({ length: count }, () => ({
      menuItemId: 7,
      itemName: 'Bücher',
      quantity: 1,
      unitPrice: 1,
      note: null,
    }))
  await countNewOrders(database.db, [
    anOrder({ eventId: of, orderId: 'small', items: items(1) }),
    anOrder({ eventId: of, orderId: 'large', items: items(500) }),
  ])
  const bytesOf = async (id: string) => {
    const { items } = JSON.parse((await readStoredOrder(database.db, of, id)) ?? '')
    return Buffer.byteLength(JSON.stringify(items))
  }
  const [small, largest] = [await bytesOf('small'), await bytesOf('large')]
  const bytes = small + largest
  const read = (mostBytes: number) =>
    readOrderPage(database.db, { ...everything, eventId: of }, { offset: 0, limit: 9, mostBytes })
  expect(await read(bytes - 1)).toEqual({ orders: undefined, bytes, largest })
  expect((await read(bytes)).orders).toHaveLength(2)
})

test('the orders of a day come in pages of few bytes, however large they are', async () => {
  const of = newEventId()
  const items = Array.from({ length: 500 }, () => ({
    menuItemId: 7,
    itemName: 'n'.repeat(200),
    quantity: 1,
    unitPrice: 1,
    note: 'o'.repeat(1_000),
  }))
  const ids = Array.from({ length: 12 }, (_, index) => `order-${String(index).padStart(2, '0')}`)
  for (const [index, orderId] of ids.entries())
    await countNewOrders(database.db, [
      anOrder({ eventId: of, orderId, dayId: 41, ...(index % 6 < 3 && { items }) }),
    ])
  const pages: { lines: string }[][] = []
  const watched = database.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      pages.push(result.rows as { lines: string }[])
      return result
    },
  })
  const read: string[] = []
  for await (const { orderId } of scanDay(watched, { eventId: of, dayId: 41 })) read.push(orderId)
  expect(read).toEqual(ids)
  expect(pages.some(page => page.length > 1)).toBe(true)
  for (const page of pages) {
    const allButLast = page.slice(0, -1).map(({ lines }) => lines)
    expect(allButLast.join('').length).toBeLessThan(128 * 1_024)
  }
})

test('an order is answered as received, with its effective amount', async () => {
  const eventId = newEventId()
  const asSent = { ...orderExample, eventId, tableNumber: '', displayOrderNumber: ' 12 ' }
  const { orderId } = asSent
  const refunds = { amount: 850, lines: [] }
  await countNewOrders(database.db, [order.parse(asSent)])
  await database.db
    .transaction()
    .execute(tx => storeRefundSums([{ eventId, orderId: orderId as OrderId, refunds }]).execute(tx))
  expect(JSON.parse((await readStoredOrder(database.db, eventId, orderId)) ?? '')).toEqual(
    presentOrder({ order: asSent, effective: 1900 }),
  )
})

test('an order of which only refunds have arrived is in no list and no count', async () => {
  const { eventId, orderId } = anOrder({ eventId: newEventId() })
  const refunds = { amount: 100, lines: [] }
  await database.db.transaction().execute(tx => storeRefundSums([{ eventId, orderId, refunds }]).execute(tx))
  expect(await readStoredOrder(database.db, eventId, orderId)).toBeUndefined()
  expect(await readOrders({ ...everything, eventId }, { offset: 0, limit: 9 })).toEqual([])
  expect(await countOrders(database.db, { ...everything, eventId })).toBe(0)
})

test('an order of another event is not found', async () => {
  expect(await readStoredOrder(database.db, eventId, 'other-event')).toBeUndefined()
})
