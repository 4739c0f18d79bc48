import type { OrganizationId } from '@tally/contract'
import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder, burgers } from '@tally/testkit/records/decoded'
import { readXlsx } from 'hucre/xlsx'
import { beforeAll, expect, test } from 'vitest'
import { newEvent, newOffice, newVisitor, signedIn, useFixture } from '../test/fixture.ts'

const fixture = useFixture()
let visitor: ReturnType<typeof newVisitor>
let organizationId: OrganizationId
beforeAll(async () => {
  ;({ visitor, organizationId } = await signedIn(fixture))
})

const dayId = 41
const days = [{ dayId, date: '2026-09-04', openedAt: 0, closedAt: null }]
const areas = [{ areaId: 3, name: 'Bar' }]

/**
 * A new event in Rome with orders on its day, €17 each unless they say otherwise; returns the query for its day.
 * `refundedCents`: what refunds of money only took back of `A-0`, `A-1` and so on.
 */
async function withOrders(
  orders: Record<string, unknown>[],
  owner = organizationId,
  ofEvent: object[] = days,
  refundedCents: Record<string, number> = {},
): Promise<string> {
  const eventId = await newEvent(fixture, owner, { timeZone: 'Europe/Rome', days: ofEvent, areas })
  await countNewOrders(
    fixture.db,
    orders.map((fields, index) => anOrder({ eventId, dayId, orderId: `A-${index}`, ...fields })),
    { refundedCents },
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
  expect(reply.headers['content-disposition']).toBe(
    'attachment; filename="sagra-del-pesce-2026-09-04-figures.csv"',
  )
  expect(cellsOf(reply.body)).toEqual([
    ['figure', 'name', 'orders', 'quantity', 'refunded quantity', 'total', 'refunded', 'takings'],
    ['day', '2026-09-04', '2', '4', '0', '34.00', '0.00', '34.00'],
    ['hour', '21:00', '1', '', '', '', '', '17.00'],
    ['hour', '00:00', '1', '', '', '', '', '17.00'],
    ['payment method', 'Card', '1', '', '', '17.00', '0.00', '17.00'],
    ['payment method', 'Cash', '1', '', '', '17.00', '0.00', '17.00'],
    ['item', 'Item 7', '', '4', '0', '34.00', '0.00', '34.00'],
    ['sum', 'hours', '2', '', '', '', '', '34.00'],
    ['sum', 'payment methods', '2', '', '', '34.00', '0.00', '34.00'],
    ['sum', 'items', '', '4', '0', '34.00', '0.00', '34.00'],
    ['sum', 'discounts and cover charges', '', '', '', '0.00', '0.00', '0.00'],
    ['sum', 'refunds of money only', '', '', '', '0.00', '0.00', '0.00'],
    ['sum', 'takings', '2', '4', '0', '34.00', '0.00', '34.00'],
  ])
})

test('the items close to the takings by discounts and refunds of money, on the sheet and in the file', async () => {
  const orders = [{ totalAmount: 15 }, { items: [burgers(1)], totalAmount: 10 }]
  const of = await withOrders(orders, organizationId, days, { 'A-0': 300 })
  const sums = cellsOf((await visitor.get(`/live/day.csv?${of}`)).body).slice(-4)
  expect(sums).toEqual([
    ['sum', 'items', '', '3', '0', '25.50', '0.00', '25.50'],
    ['sum', 'discounts and cover charges', '', '', '', '-0.50', '0.00', '-0.50'],
    ['sum', 'refunds of money only', '', '', '', '0.00', '3.00', '-3.00'],
    ['sum', 'takings', '2', '3', '0', '25.00', '3.00', '22.00'],
  ])
  const [, closing = ''] = (await visitor.get(`/live/day?${of}`)).body.split('class="closing"')
  const amounts = [...closing.matchAll(/<td class="number">(-?€[^<]+)</g)].map(([, amount]) => amount)
  expect(amounts).toEqual(['€25.50', '-€0.50', '-€3.00', '€22.00'])
})

test('payment methods are as the tills name them, net of refunds, most takings first, of a day and of all', async () => {
  const both = [
    { dayId, date: '2026-09-04', openedAt: 0, closedAt: null },
    { dayId: 42, date: '2026-09-05', openedAt: 0, closedAt: null },
  ]
  const of = await withOrders(
    [
      { paymentMethod: 'Card' },
      { paymentMethod: 'card', totalAmount: 30 },
      { paymentMethod: ' Card', areaId: 2, totalAmount: 2 },
      { paymentMethod: '', areaId: 2, totalAmount: 2 },
      { paymentMethod: 'Card', dayId: 42 },
      { paymentMethod: 'Voucher', dayId: 42, status: 'Pending' },
    ],
    organizationId,
    both,
    { 'A-0': 1_000, 'A-1': 9_999, 'A-5': 100 },
  )
  const methods = async (file: string) =>
    cellsOf((await visitor.get(`/live/${file}.csv?${of}`)).body)
      .filter(([figure, name]) => figure === 'payment method' || name === 'payment methods')
      .map(([, name, orders, , , ...amounts]) => [name, orders, ...amounts])
  expect(await methods('day')).toEqual([
    ['Card', '1', '17.00', '10.00', '7.00'],
    ['', '1', '2.00', '0.00', '2.00'],
    [' Card', '1', '2.00', '0.00', '2.00'],
    ['card', '1', '30.00', '30.00', '0.00'],
    ['payment methods', '4', '51.00', '40.00', '11.00'],
  ])
  expect(await methods('days')).toEqual([
    ['Card', '2', '34.00', '10.00', '24.00'],
    ['', '1', '2.00', '0.00', '2.00'],
    [' Card', '1', '2.00', '0.00', '2.00'],
    ['card', '1', '30.00', '30.00', '0.00'],
    ['payment methods', '5', '68.00', '40.00', '28.00'],
  ])
  const sheet = (await visitor.get(`/live/day?${of}`, { 'accept-language': 'en-GB' })).body
  expect(sheet).toContain(
    '<th scope="row"><bdi>Not named</bdi></th><td class="number">1</td><td class="number">€2.00</td>',
  )
  expect(sheet).toContain('(2 orders)')
  const { sheets } = await readXlsx((await visitor.get(`/live/sheet.xlsx?${of}`)).rawPayload)
  const rows = sheets[0]?.rows.map(cells => cells.slice(0, 6)) ?? []
  expect(rows).toContainEqual(['Not named', 1, 0, 2, 0, 2])
  expect(rows).toContainEqual(['card', 1, 1, 30, 30, 0])
})

test('all days of a festival have one sheet, and files that add up to those of its days', async () => {
  const later = [
    { dayId: 42, date: '2026-09-05', openedAt: Date.UTC(2026, 8, 5, 9), closedAt: Date.UTC(2026, 8, 5, 13) },
    { dayId: 43, date: '2026-09-05', openedAt: Date.UTC(2026, 8, 5, 16), closedAt: null },
  ]
  const of = await withOrders(
    [{}, { dayId: 42 }, { dayId: 43, paymentMethod: 'Card' }, ...cups.map(cup => ({ ...cup, dayId: 43 }))],
    organizationId,
    [...later, ...days],
  )
  const festival = await visitor.get(`/live/days.csv?${of}`)
  expect(festival.headers['content-disposition']).toContain(
    '"sagra-del-pesce-2026-09-04-all-days-figures.csv"',
  )
  const rows = cellsOf(festival.body)
  expect(rows[1]).toEqual(['festival', 'Sagra del Pesce', '6', '5', '0', '51.50', '0.00', '51.50'])
  expect(rows.filter(([figure]) => figure === 'day').map(([, ...cells]) => [cells[0], cells.at(-1)])).toEqual(
    [
      ['2026-09-04', '17.00'],
      ['2026-09-05 11:00', '17.00'],
      ['2026-09-05 18:00', '17.50'],
    ],
  )
  const [item] = rows.filter(([figure, name]) => figure === 'item' && name === 'Item 7')
  expect(item?.slice(3)).toEqual(['7', '0', '59.50', '0.00', '59.50'])
  const sheet = (await visitor.get(`/live/days?${of}`, { 'accept-language': 'en-GB' })).body
  expect(sheet).toMatch(/4\s–\s5 Sept 2026/)
  expect(sheet).toContain('<th scope="row">5 Sept 2026 18:00</th>')
  const linksOf = (page: string) =>
    [...page.matchAll(/class="button" href="\/live\/([^"]+)"/g)].map(([, link]) => link)
  const all = of.replace(/&.*/, '')
  expect(linksOf(sheet)).toEqual(['days-sheet.xlsx', 'days.xlsx', 'days.csv'].map(file => `${file}?${all}`))
  const files = ['sheet.xlsx', 'day.xlsx', 'orders.xlsx', 'day.csv', 'orders.csv']
  expect(linksOf((await visitor.get(`/live/day?${of}`)).body)).toEqual([
    ...files.map(file => `${file}?${all}&amp;day=${dayId}`),
    `days?${all}`,
  ])

  // Two days of one date are told apart wherever one of them is named.
  const dinner = of.replace(/\d+$/, '43')
  const british = { 'accept-language': 'en-GB' }
  const ofDinner = (await visitor.get(`/live/day?${dinner}`, british)).body
  expect(ofDinner).toMatch(/<title>[^<]+, 5 Sept 2026 18:00 · Tally<.*<p class="big">5 Sept 2026 18:00<\/p>/s)
  const { sheets } = await readXlsx((await visitor.get(`/live/sheet.xlsx?${dinner}`)).rawPayload)
  expect(sheets[0]?.rows[1]?.[0]).toBe('2026-09-05 18:00')
  expect(cellsOf((await visitor.get(`/live/day.csv?${dinner}`)).body)[1]?.[1]).toBe('2026-09-05 18:00')
  const live = (await visitor.get(`/live?${dinner}&area=3`, british)).body
  expect(live).toMatch(/id="date">5 Sept 2026 18:00<.*"Day before: Sat 5 Sept 11:00"/s)
  expect(live).toMatch(/>Sat 5 Sept 18:00<\/option>.*>Sat 5 Sept 11:00<\/option>.*>Fri 4 Sept<\/option>/s)
  // Files are of all areas, also on the page of one.
  expect(live).toContain('>Settle the day, all areas<')
})

const second = [{ dayId: 42, date: '2026-09-05', openedAt: 0, closedAt: null }]
test.each([
  { of: 'all days', page: 'days', workbook: 'days-sheet', ofEvent: [...days, ...second] },
  { of: 'the only day of an event', page: 'day', workbook: 'sheet', ofEvent: days },
])(
  'orders of days that the event does not list have a line with $of, and are in no sum',
  async ({ page, workbook, ofEvent }) => {
    const unlisted = { dayId: 17, totalAmount: 5 }
    const orders = [{}, unlisted, { ...unlisted, areaId: 2 }, { ...unlisted, status: 'Pending' }]
    const of = await withOrders(orders, organizationId, ofEvent)
    const rows = cellsOf((await visitor.get(`/live/${page}.csv?${of}`)).body)
    expect([rows[1]?.at(-1), rows.at(-1)?.at(-1)]).toEqual(['17.00', '17.00'])
    expect(rows).toContainEqual(['unlisted days', '', '2', '', '', '', '', '10.00'])
    const name = 'Orders of days that the event does not list (in no sum)'
    expect((await visitor.get(`/live/${page}?${of}`, { 'accept-language': 'en-GB' })).body).toContain(
      `<th scope="row">${name}</th><td class="number">2</td><td class="number">€10.00</td>`,
    )
    const { sheets } = await readXlsx((await visitor.get(`/live/${workbook}.xlsx?${of}`)).rawPayload)
    const row = sheets[0]?.rows.find(([head]) => head === name)
    expect(row?.slice(0, 6)).toEqual([name, 2, null, null, null, 10])
    const ofDay = (await visitor.get(`/live/day.csv?${of}`)).body
    expect(ofDay.includes('unlisted')).toBe(page === 'day')
  },
)

const cup = { menuItemId: 70, itemName: 'Cup deposit', unitPrice: 2 }
/** A burger with its cup, four cups that come back, and at the till next door one that is a price below zero. */
const cups = [
  { items: [burgers(1), { ...cup, quantity: 1 }], totalAmount: 10.5 },
  { items: [{ ...cup, quantity: -4 }], totalAmount: -8, orderDateTime: '2026-09-04T22:10:00Z' },
  {
    items: [{ menuItemId: 71, itemName: 'Cup back', quantity: 1, unitPrice: -2 }],
    totalAmount: -2,
    paymentMethod: 'Card',
  },
]

test('figures below zero are numbers with a plain minus, and everything still adds up', async () => {
  const of = await withOrders(cups)
  expect(cellsOf((await visitor.get(`/live/day.csv?${of}`)).body).slice(1)).toEqual([
    ['day', '2026-09-04', '3', '-1', '0', '0.50', '0.00', '0.50'],
    ['hour', '21:00', '2', '', '', '', '', '8.50'],
    ['hour', '00:00', '1', '', '', '', '', '-8.00'],
    ['payment method', 'Cash', '2', '', '', '2.50', '0.00', '2.50'],
    ['payment method', 'Card', '1', '', '', '-2.00', '0.00', '-2.00'],
    ['item', 'Item 7', '', '1', '0', '8.50', '0.00', '8.50'],
    ['item', 'Item 70', '', '-3', '0', '-6.00', '0.00', '-6.00'],
    ['item', 'Item 71', '', '1', '0', '-2.00', '0.00', '-2.00'],
    ['sum', 'hours', '3', '', '', '', '', '0.50'],
    ['sum', 'payment methods', '3', '', '', '0.50', '0.00', '0.50'],
    ['sum', 'items', '', '-1', '0', '0.50', '0.00', '0.50'],
    ['sum', 'discounts and cover charges', '', '', '', '0.00', '0.00', '0.00'],
    ['sum', 'refunds of money only', '', '', '', '0.00', '0.00', '0.00'],
    ['sum', 'takings', '3', '-1', '0', '0.50', '0.00', '0.50'],
  ])
  const orders = cellsOf((await visitor.get(`/live/orders.csv?${of}`)).body)
  expect(orders.slice(1).map(row => row.slice(8))).toEqual([
    ['1 × Burger; 1 × Cup deposit', '10.50', '0.00', '10.50', '10.50'],
    ['1 × Cup back (given back)', '-2.00', '0.00', '-2.00', '-2.00'],
    ['4 × Cup deposit (given back)', '-8.00', '0.00', '-8.00', '-8.00'],
  ])
})

test('the sheet lists the evening through midnight, and returned items on their own', async () => {
  const of = await withOrders(cups)
  const sheet = (await visitor.get(`/live/day?${of}`, { 'accept-language': 'it-IT' })).body
  const heads = [...sheet.matchAll(/<th scope="row">(?:<bdi>)?([^<]+)(?:<\/bdi>)?<\/th>/g)].map(
    ([, head]) => head,
  )
  expect(heads.slice(-10).join()).toBe('21:00,00:00,Sum,Cash,Card,Sum,Item 7,Item 70,Item 71,All items')
  const [, returned = ''] = sheet.split('Returns and vouchers')
  expect(returned).toMatch(/Item 70<.*>-3<.*>-6,00\u00a0€<[\s\S]*Item 71<.*>1<.*>-2,00\u00a0€</)
  expect(sheet).toMatch(
    /Refunded <span class="faint">\(0 orders\)<\/span><\/th><td class="number">0,00\u00a0€</,
  )
})

test('the order list has every order of the day by time; one that does not count adds nothing', async () => {
  const discount = { menuItemId: 91, itemName: 'Discount', quantity: 1, unitPrice: -2.5 }
  const discounted = [burgers(2), discount, { ...discount, itemName: 'No discount', quantity: -1 }]
  const of = await withOrders([
    { orderDateTime: '2026-09-04T19:31:07Z', tableNumber: '12', isTakeaway: true, items: discounted },
    { orderDateTime: '2026-09-04T18:00:00Z', status: 'Pending', areaId: 2 },
    { dayId: 42 },
  ])
  const [head, ...rows] = cellsOf((await visitor.get(`/live/orders.csv?${of}`)).body)
  expect(head?.[0]).toBe('time (Europe/Rome)')
  expect(rows.map(cells => cells.join('|'))).toEqual([
    '2026-09-04 20:00:00|A-1|1|Pending|Area 2|Cash|no||2 × Burger|17.00|0.00|17.00|0.00',
    '2026-09-04 21:31:07|A-0|1|Paid|Area 1|Cash|yes|12|2 × Burger; 1 × Discount (given back); 1 × No discount|17.00|0.00|17.00|17.00',
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

test('the files for Excel say what the CSV files say, and the sheet has its parts', async () => {
  const of = await withOrders([{ orderId: '20260904000123456', tableNumber: '3-4' }, ...cups])
  const workbook = async (name: string) => {
    const reply = await visitor.get(`/live/${name}.xlsx?${of}`)
    expect(reply.statusCode).toBe(200)
    expect(reply.headers['content-disposition']).toMatch(
      /^attachment; filename="sagra-del-pesce-2026-09-04-(sheet|figures|orders|all-days-(sheet|figures))\.xlsx"$/,
    )
    return (await readXlsx(reply.rawPayload)).sheets[0]?.rows ?? []
  }
  for (const name of ['day', 'days', 'orders']) {
    const lines = cellsOf((await visitor.get(`/live/${name}.csv?${of}`)).body)
    const texts = (await workbook(name)).map((cells, row) =>
      cells.map((cell, column) => {
        if (typeof cell === 'number') return cell.toFixed(lines[row]?.[column]?.includes('.') ? 2 : 0)
        if (cell instanceof Date) return cell.toISOString().slice(0, 19).replace('T', ' ')
        return String(cell ?? '')
      }),
    )
    expect(texts).toEqual(lines)
  }
  const sheet = await workbook('sheet')
  const heads = sheet.map(([head]) => head).filter(head => head != null)
  expect(heads).toContain('By payment method')
  expect(heads.slice(-9).join()).toBe(
    'Item 7,Returns and vouchers,Item 70,Item 71,From the items to the takings,All items,Discounts and cover charges,Refunds of money only,Takings',
  )
  expect((await workbook('days-sheet')).map(([head]) => head)).toContain('By day')
})

test('no cell runs as a formula in a spreadsheet', async () => {
  const of = await withOrders([{ displayOrderNumber: '=1+1', paymentMethod: '@SUM(A1)', tableNumber: '-2' }])
  const orders = (await visitor.get(`/live/orders.csv?${of}`)).body
  for (const cell of [`"'=1+1"`, `"'@SUM(A1)"`, `"'-2"`]) expect(orders).toContain(cell)
  expect((await visitor.get(`/live/day.csv?${of}`)).body).toContain(`"payment method","'@SUM(A1)"`)
})

test('the sheet has money and numbers in the viewer’s locale and times in the event’s time zone', async () => {
  const of = await withOrders(Array.from({ length: 100 }, () => ({ totalAmount: 12.5 })))
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
  const [, [, , ...figures] = []] = cellsOf((await visitor.get(`/live/day.csv?${of}`)).body)
  expect(figures.join()).toBe('0,0,0,0.00,0.00,0.00')
  expect(cellsOf((await visitor.get(`/live/orders.csv?${of}`)).body)).toHaveLength(1)
})

test('an order that only gives back has nothing to refund', async () => {
  const refunded = { 'A-0': 500, 'A-1': 500, 'A-2': 500, 'A-3': 500 }
  const of = await withOrders([...cups, {}], organizationId, days, refunded)
  const sheet = (await visitor.get(`/live/day?${of}`)).body
  expect(sheet).toContain('(2 orders)')
  expect(sheet).toContain('<td class="number">-€10.00</td>')
})

test('another organization’s day is not there, nor without a session', async () => {
  const other = await newOffice(fixture)
  const of = await withOrders([{}], other.organizationId)
  for (const path of ['/live/day', '/live/day.csv', '/live/orders.csv', '/live/days', '/live/days.xlsx']) {
    expect([path, (await visitor.get(`${path}?${of}`)).statusCode]).toEqual([path, 404])
    const stranger = await newVisitor(fixture.app).get(`${path}?${of}`)
    expect([path, stranger.statusCode]).toEqual([path, 303])
  }
})
