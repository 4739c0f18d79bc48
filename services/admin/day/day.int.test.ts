import type { OrganizationId } from '@tally/contract'
import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder } from '@tally/testkit/records/decoded'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fixture, newEvent, newOffice, newVisitor, openFixture } from '../test/fixture.ts'

let fixture: Fixture
let visitor: ReturnType<typeof newVisitor>
let organizationId: OrganizationId
beforeAll(async () => {
  fixture = await openFixture()
  visitor = newVisitor(fixture.app)
  const office = await newOffice(fixture)
  organizationId = office.organizationId
  await visitor.signIn(office.email)
})
afterAll(() => fixture.close())

const dayId = 41
const days = [{ dayId, date: '2026-09-04', openedAt: 0, closedAt: null }]

/** A new event in Rome with orders on its day, €17 each unless they say otherwise; returns the query for its day. */
async function withOrders(orders: Record<string, unknown>[], owner = organizationId): Promise<string> {
  const eventId = await newEvent(fixture, owner, { timeZone: 'Europe/Rome', days })
  await countNewOrders(
    fixture.db,
    orders.map((fields, index) => anOrder({ eventId, dayId, orderId: `A-${index}`, ...fields })),
  )
  return `eventId=${eventId}&day=${dayId}`
}

/** The cells of a CSV file in which no cell holds a quote; its byte order mark is for Excel. */
const cellsOf = (csv: string): string[][] =>
  csv
    .replace(/^\ufeff/, '')
    .trimEnd()
    .split('\r\n')
    .map(line => line.slice(1, -1).split('","'))

test('the figures name the day, its hours, payment methods and items, net of refunds', async () => {
  const of = await withOrders([
    { paymentMethod: 'Cash' },
    { paymentMethod: 'Card', orderDateTime: '2026-09-04T22:10:00Z' },
    { paymentMethod: 'Card', status: 'Cancelled' },
  ])
  const reply = await visitor.get(`/live/day.csv?${of}`)
  expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(reply.headers['content-disposition']).toBe('attachment; filename="figures-2026-09-04.csv"')
  expect(cellsOf(reply.body)).toEqual([
    ['figure', 'name', 'orders', 'quantity', 'refunded quantity', 'total', 'refunded', 'takings'],
    ['day', '2026-09-04', '2', '4', '0', '34.00', '0.00', '34.00'],
    ['hour', '21:00', '1', '', '', '', '', '17.00'],
    ['hour', '00:00', '1', '', '', '', '', '17.00'],
    ['payment method', 'Card', '1', '', '', '17.00', '0.00', '17.00'],
    ['payment method', 'Cash', '1', '', '', '17.00', '0.00', '17.00'],
    ['item', 'Item 7', '', '4', '0', '34.00', '0.00', '34.00'],
  ])
})

test('the order list has every order of the day by time; one that does not count adds nothing', async () => {
  const of = await withOrders([
    { orderDateTime: '2026-09-04T19:31:07Z', tableNumber: '12', isTakeaway: true },
    { orderDateTime: '2026-09-04T18:00:00Z', status: 'Pending', areaId: 2 },
    { dayId: 42 },
  ])
  const [head, ...rows] = cellsOf((await visitor.get(`/live/orders.csv?${of}`)).body)
  expect(head?.[0]).toBe('time (Europe/Rome)')
  expect(rows).toEqual([
    [
      '2026-09-04 20:00:00',
      'A-1',
      '1',
      'Pending',
      'Area 2',
      'Cash',
      'no',
      '',
      '2 × Burger',
      '17.00',
      '0.00',
      '17.00',
      '0.00',
    ],
    [
      '2026-09-04 21:31:07',
      'A-0',
      '1',
      'Paid',
      'Area 1',
      'Cash',
      'yes',
      '12',
      '2 × Burger',
      '17.00',
      '0.00',
      '17.00',
      '17.00',
    ],
  ])
})

test('an order list of several pages has each order once', async () => {
  const many = Array.from({ length: 2_500 }, (_, index) => ({
    orderId: `A-${String(index).padStart(5, '0')}`,
    orderDateTime: new Date(
      Date.parse('2026-09-04T18:00:00Z') + Math.floor(index / 700) * 1_000,
    ).toISOString(),
  }))
  const of = await withOrders(many)
  const [, ...rows] = cellsOf((await visitor.get(`/live/orders.csv?${of}`)).body)
  expect(rows.map(([, id]) => id)).toEqual(many.map(({ orderId }) => orderId))
})

test('no cell runs as a formula in a spreadsheet', async () => {
  const of = await withOrders([{ displayOrderNumber: '=1+1', paymentMethod: '@SUM(A1)', tableNumber: '-2' }])
  const orders = (await visitor.get(`/live/orders.csv?${of}`)).body
  for (const cell of [`"'=1+1"`, `"'@SUM(A1)"`, `"'-2"`]) expect(orders).toContain(cell)
  expect((await visitor.get(`/live/day.csv?${of}`)).body).toContain(`"payment method","'@SUM(A1)"`)
})

test('the sheet has money and numbers in the viewer’s locale and times in the event’s time zone', async () => {
  const of = await withOrders(
    Array.from({ length: 100 }, () => ({ totalAmount: 12.5 })).map((order, index) => ({
      ...order,
      orderId: `A-${index}`,
    })),
  )
  const italian = (await visitor.get(`/live/day?${of}`, { 'accept-language': 'it-IT' })).body
  expect(italian).toContain('1250,00\u00a0€')
  expect(italian).toContain('4 set 2026')
  expect(italian).toContain('<th scope="row">21:00</th>')
  const english = (await visitor.get(`/live/day?${of}`, { 'accept-language': 'en-GB' })).body
  expect(english).toContain('€1,250.00')
  expect(english).toContain('The day is still open')
})

test('a day without orders has a sheet and files, all zero', async () => {
  const of = await withOrders([{ dayId: 42 }])
  expect((await visitor.get(`/live/day?${of}`)).statusCode).toBe(200)
  expect(cellsOf((await visitor.get(`/live/day.csv?${of}`)).body)[1]?.slice(2)).toEqual([
    '0',
    '0',
    '0',
    '0.00',
    '0.00',
    '0.00',
  ])
  expect(cellsOf((await visitor.get(`/live/orders.csv?${of}`)).body)).toHaveLength(1)
})

test('another organization’s day is not there, nor without a session', async () => {
  const other = await newOffice(fixture)
  const of = await withOrders([{}], other.organizationId)
  for (const path of ['/live/day', '/live/day.csv', '/live/orders.csv']) {
    expect([path, (await visitor.get(`${path}?${of}`)).statusCode]).toEqual([path, 404])
    const stranger = await newVisitor(fixture.app).get(`${path}?${of}`)
    expect([path, stranger.statusCode]).toEqual([path, 303])
  }
})
