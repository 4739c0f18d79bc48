import { expect, test } from 'vitest'
import { festivals } from '../festivals/index.ts'
import { festivalBooks, readRecords } from '../test/readRecords.ts'
import { simulate } from './simulate.ts'

const records = [...simulate({ seed: 1, orders: 12_000, evenings: 1, date: '2026-09-04' })]
const books = festivals.map(festival => {
  const book = festivalBooks(records).find(({ event }) => event.organizationId === festival.organizationId)
  if (book === undefined) throw new Error(`${festival.eventName} has no records`)
  const { deposit, voucher } = festival
  const orders = [...book.orders.values()]
  const idOf = (name: string | undefined) => book.event.menuItems.find(item => item.name === name)?.menuItemId
  return {
    ...book,
    festival,
    orders,
    sold: orders.filter(({ status }) => status !== 'Cancelled' && !/Pre.rder|Pending/.test(status)),
    refunds: [...book.refunds.values()],
    depositId: idOf(deposit?.name),
    returnedId: idOf(deposit?.returnedAs ?? deposit?.name),
    voucherId: idOf(voucher?.name),
  }
})
type Book = (typeof books)[number]
type Line = Book['sold'][number]['items'][number]

const lending = books.filter(({ festival }) => festival.deposit !== null)
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
const cents = ({ quantity, unitPrice }: Line) => quantity * unitPrice
const isDeposit = ({ menuItemId }: Line, { depositId, returnedId }: Book) =>
  menuItemId === depositId || menuItemId === returnedId
const cups = (lines: Line[], book: Book) => {
  const deposits = lines.filter(line => isDeposit(line, book))
  const ofReturns = deposits.filter(line => cents(line) < 0)
  expect(ofReturns.every(({ menuItemId }) => menuItemId === book.returnedId)).toBe(true)
  return {
    out: sum(deposits.filter(line => cents(line) > 0).map(({ quantity }) => quantity)),
    back: sum(ofReturns.map(({ quantity }) => Math.abs(quantity))),
  }
}

test('drinks in cups are on the menu, and each is sold with a deposit', () => {
  expect(lending.length).toBe(3)
  for (const book of lending) {
    const { deposit, menu } = book.festival
    const onMenu = menu.flatMap(({ dishes }) => dishes.map(([name]) => name))
    expect(onMenu).toEqual(expect.arrayContaining([...(deposit?.cupOf ?? [])]))
    for (const { items } of book.sold) {
      const drinks = items.filter(({ itemName }) => deposit?.cupOf.includes(itemName))
      expect(cups(items, book).out).toBe(sum(drinks.map(({ quantity }) => quantity)))
    }
  }
})

test('a till writes a cup that comes back with a quantity below zero, or with a price below zero', () => {
  const kinds = lending.map(book => {
    const { festival, sold } = book
    const back = sold.flatMap(({ items }) => items.filter(line => isDeposit(line, book) && cents(line) < 0))
    expect(new Set(back.map(({ quantity }) => quantity < 0))).toEqual(
      new Set([festival.deposit?.isReturnedBy === 'quantity']),
    )
    return festival.deposit?.isReturnedBy
  })
  expect(new Set(kinds)).toEqual(new Set(['quantity', 'price']))
})

test('most cups come back, some never, and at no time more than were lent', () => {
  for (const book of lending) {
    // Cups of an order that was refunded as a whole were given back with it.
    const refunded = new Set(
      book.refunds.flatMap(([first]) =>
        first?.lines.some(({ menuItemId }) => menuItemId === book.depositId) ? [first.orderId] : [],
      ),
    )
    const inTurn = book.sold
      .filter(({ orderId }) => !refunded.has(orderId))
      .toSorted((a, b) => a.orderDateTime - b.orderDateTime)
      .map(({ items }) => cups(items, book))
    let lent = 0
    for (const { out, back } of inTurn) {
      lent -= back
      expect(lent).toBeGreaterThanOrEqual(0)
      lent += out
    }
    const back = sum(inTurn.map(turn => turn.back))
    const out = sum(inTurn.map(turn => turn.out))
    expect(back).toBeGreaterThan(0.5 * out)
    expect(back).toBeLessThan(0.9 * out)
    // However its lines are written, the deposit earns what the missing cups are worth.
    const earned = sum(
      book.sold
        .filter(({ orderId }) => !refunded.has(orderId))
        .flatMap(({ items }) => items.filter(line => isDeposit(line, book)).map(cents)),
    )
    expect(earned).toBe((out - back) * (book.festival.deposit?.cents ?? 0))
  }
})

test('some guests only give cups back: they are paid, and the total is below zero', () => {
  for (const book of lending) {
    const alone = book.sold.filter(({ items }) => items.every(line => cents(line) < 0))
    expect(alone.length).toBeGreaterThan(0)
    for (const { items, totalAmount, amountPaid } of alone) {
      expect([totalAmount, amountPaid]).toEqual([sum(items.map(cents)), totalAmount])
      expect(totalAmount).toBeLessThan(0)
    }
    // With cups for more than a drink costs, a total is below zero too.
    expect(book.sold.filter(({ totalAmount }) => totalAmount < 0).length).toBeGreaterThan(alone.length)
  }
})

test('a total is the dishes less a discount, deposits and vouchers in full, and the cover charge', () => {
  for (const book of books) {
    const { festival, sold, voucherId } = book
    const covers = [0, 1, 2, 3, 4].map(guests => guests * festival.coverChargeCents)
    for (const { items, totalAmount } of sold) {
      const added = sum(
        items.filter(line => isDeposit(line, book) || line.menuItemId === voucherId).map(cents),
      )
      const dishes = sum(items.map(cents)) - added
      const possible = festival.discounts.flatMap(({ percent }) =>
        covers.map(cover => Math.round((dishes * (100 - percent)) / 100) + added + cover),
      )
      expect(possible).toContain(totalAmount)
    }
  }
})

test('a voucher is a line with a price below zero, on an order of at least twice its worth', () => {
  const [book, ...others] = books.filter(({ festival }) => festival.voucher !== null)
  expect(others).toEqual([])
  const used = book?.sold.filter(({ items }) => items.some(({ menuItemId }) => menuItemId === book.voucherId))
  expect(used?.length).toBeGreaterThan(0)
  for (const { items } of used ?? []) {
    expect(items.at(-1)).toMatchObject({ menuItemId: book?.voucherId, quantity: 1, unitPrice: -500 })
    expect(sum(items.slice(0, -1).map(cents))).toBeGreaterThanOrEqual(1000)
  }
})

test('at every festival some refunds keep a fee, fail later, or were less than was said', () => {
  for (const { refunds } of books) {
    const keepsFee = refunds.filter(
      ([first]) => first && first.amount < sum(first.lines.map(({ amount }) => amount)),
    )
    expect(keepsFee.length).toBeGreaterThan(0)
    const later = refunds.flatMap(([first, second]) => (first && second ? [{ first, second }] : []))
    const failed = later.filter(({ second }) => second.amount === 0 && second.lines.length === 0)
    expect(failed.length).toBeGreaterThan(0)
    expect(later.length).toBeLessThan(refunds.length / 3)
    for (const { first, second } of later) {
      expect({ ...second, amount: 0, version: 0, lines: [] }).toEqual({
        ...first,
        amount: 0,
        version: 0,
        lines: [],
      })
      expect(second.amount).toBeLessThanOrEqual(first.amount)
    }
  }
  const corrected = books.flatMap(({ refunds }) =>
    refunds.filter(([first, second]) => second && second.amount > 0 && second.amount < (first?.amount ?? 0)),
  )
  expect(corrected.length).toBeGreaterThan(0)
})

test('the second version of a refund is sent minutes after the first', () => {
  const sent = Map.groupBy(
    readRecords('refunds', records),
    ({ value }) => `${value.eventId} ${value.refundId}`,
  )
  for (const versions of sent.values()) {
    const firstMs = versions.find(({ value }) => value.version === 1)?.atMs ?? Number.POSITIVE_INFINITY
    const secondMs = versions.find(({ value }) => value.version === 2)?.atMs
    if (secondMs !== undefined) expect(secondMs - firstMs).toBeGreaterThanOrEqual(60_000)
  }
})

test('nothing is refunded of an order that cups came back with, nor more than it cost', () => {
  for (const book of books) {
    const byId = new Map(book.orders.map(order => [order.orderId, order]))
    for (const [first] of book.refunds) {
      const order = first && byId.get(first.orderId)
      expect(order && cups(order.items, book).back).toBe(0)
      expect(first?.amount).toBeLessThanOrEqual(order?.totalAmount ?? -1)
    }
  }
})
