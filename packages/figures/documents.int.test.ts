import { inSnapshot } from '@tally/platform'
import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder } from '@tally/testkit/records/decoded'
import { newEventId } from '@tally/testkit/records/records'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { beforeAll, expect, test } from 'vitest'
import { composeDocuments, documentName } from './documents.ts'

const database = await databaseOfFile()
const eventId = newEventId()
const line = (menuItemId: number, quantity: number) => ({
  menuItemId,
  itemName: 'x',
  quantity,
  unitPrice: 2.5,
})

beforeAll(async () => {
  await countNewOrders(database.db, [
    anOrder({ eventId, orderId: 'A-1', totalAmount: 5, items: [line(9, 1), line(7, 1)] }),
    anOrder({ eventId, orderId: 'A-2', totalAmount: 0.01, items: [line(7, 3)], areaId: 2 }),
    anOrder({ eventId, orderId: 'A-3', status: 'Pending', dayId: 42 }),
  ])
})

const compose = (scope: Parameters<typeof composeDocuments>[1]) =>
  inSnapshot(
    database.db,
    async snapshot => (await composeDocuments(snapshot, scope)).get(eventId) ?? new Map(),
  )

const item = (menuItemId: number, quantity: number, revenue: number) => [menuItemId, quantity, revenue, 0, 0]

test('each (day, area) with an order has documents, and so do all areas together', async () => {
  const documents = await compose({ events: [eventId] })
  const read = (view: 'kpis' | 'hours' | 'items', dayId: number, areaId: number) =>
    JSON.parse(documents.get(documentName(view, dayId, areaId)) ?? 'null')
  expect(read('kpis', 41, 0)).toEqual({
    totalOrders: 2,
    totalSales: 5.01,
    currency: 'EUR',
    averageOrderValue: 2.51,
    totalItemsSold: 5,
  })
  expect(read('hours', 41, 2)).toEqual([{ hour: 19, orderCount: 1, revenue: 0.01, currency: 'EUR' }])
  expect(read('items', 41, 0)).toEqual([item(7, 4, 10), item(9, 1, 2.5)])
  expect(read('items', 41, 1)).toEqual([item(7, 1, 2.5), item(9, 1, 2.5)])
})

test('a day with only unconfirmed orders has KPIs of 0, no hours, no items, no payments', async () => {
  const documents = await compose({ events: [eventId] })
  expect(JSON.parse(documents.get('kpis:42:0') ?? '')).toMatchObject({ totalOrders: 0, totalSales: 0 })
  expect(documents.has('hours:42:0')).toBe(false)
  expect(documents.has('items:42:0')).toBe(false)
  expect(documents.has('payments:42:0')).toBe(false)
})

test('documents of one (day, area) are byte for byte those of the whole event', async () => {
  const whole = await compose({ events: [eventId] })
  const part = await compose({ areas: [{ eventId, dayId: 41, areaId: 1 }] })
  expect([...part.keys()].sort()).toEqual(['hours:41:1', 'items:41:1', 'kpis:41:1', 'payments:41:1'])
  for (const [name, text] of part) expect(text).toBe(whole.get(name))
})
