import { presentOrder } from '@tally/testkit/oracle/present'
import { newFestival } from '@tally/testkit/records/festival'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openBook } from './book.ts'
import { openClaims } from './claims.ts'
import { openJournal } from './journal.ts'
import { collectWrongs } from './wrong.ts'

// The clock stands still: on a busy machine an event would be at rest before the test has asked about it.
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterAll(() => void vi.useRealTimers())

const sagra = newFestival()
const { eventId } = sagra
const ago = (ms: number) => Date.now() - ms

/** A run in which each of these records was acknowledged this many milliseconds ago; null: not yet acknowledged. */
function runOf(...sent: [{ type: string; value: unknown }, number | null][]) {
  const book = openBook()
  const journal = openJournal()
  const wrongs = collectWrongs(() => {})
  for (const [record, agoMs] of sent as [ReturnType<typeof sagra.order>, number | null][]) {
    book.add(record)
    const acknowledge = journal.send([record])
    if (agoMs !== null) acknowledge(ago(agoMs))
  }
  const claims = openClaims({ book, journal, wrongs })
  const kpis = (asOfMs: number, [totalOrders, totalSales, totalItemsSold]: [number, number, number]) => {
    const data = { totalOrders, totalSales, currency: 'EUR', averageOrderValue: 27.5, totalItemsSold }
    say('/analytics/kpis', asOfMs, data)
  }
  const say = (path: string, asOfMs: number, data: unknown) => {
    const body = { data, meta: { asOf: new Date(asOfMs).toISOString(), dayId: 42 } }
    claims.check({ eventId, path, where: path }, { status: 200, headers: {}, text: '', body })
  }
  return { kpis, say, rules: () => wrongs.list.map(({ rule }) => rule) }
}

const holds = 'an answer contains what was acknowledged before its asOf'
const order = () => sagra.order()

test('an answer may not miss what was acknowledged before its asOf', () => {
  const { kpis, rules } = runOf([sagra.event(), 900], [order(), 800], [order(), 700])
  kpis(ago(750), [1, 27.5, 3])
  kpis(ago(750), [2, 55, 6])
  expect(rules()).toEqual([])
  kpis(ago(600), [1, 27.5, 3])
  expect(rules()).toEqual([holds, holds, holds])
})

test('an answer may contain unacknowledged records, and nothing else', () => {
  const { kpis, rules } = runOf([sagra.event(), 900], [order(), 800], [order(), null])
  kpis(ago(100), [1, 27.5, 3])
  kpis(ago(100), [2, 55, 6])
  expect(rules()).toEqual([])
  kpis(ago(100), [3, 82.5, 9])
  expect(rules()).toEqual([holds, holds, holds])
})

test('an asOf in the future is wrong', () => {
  const { kpis, rules } = runOf([sagra.event(), 900], [order(), 800])
  kpis(Date.now() + 60_000, [1, 27.5, 3])
  expect(rules()).toEqual(['asOf is never later than the clock'])
})

test('an event at rest is compared as a whole', () => {
  const { kpis, rules } = runOf([sagra.event(), 9_000], [order(), 8_000])
  kpis(ago(100), [1, 27.5, 3])
  expect(rules()).toEqual([])
  kpis(ago(100), [1, 27.5, 2])
  expect(rules()).toEqual([holds])
})

test('an order may be shown in any state from the one that asOf claims on', () => {
  const paid = order()
  const cancelled = { ...paid, value: { ...paid.value, version: 2, status: 'Cancelled' } }
  const refund = sagra.refund({ orderId: paid.value.orderId })
  const { say, rules } = runOf([sagra.event(), 900], [paid, 800], [refund, 700], [cancelled, 600])
  const shown = (status: string, effectiveAmount: number) =>
    presentOrder({ order: { ...paid.value, status }, effective: 100 * effectiveAmount })
  const path = `/orders/${paid.value.orderId}`
  say(path, ago(750), shown('Paid', 27.5))
  say(path, ago(750), shown('Paid', 15))
  say(path, ago(650), shown('Paid', 15))
  say(path, ago(650), shown('Cancelled', 15))
  expect(rules()).toEqual([])
  say(path, ago(650), shown('Paid', 27.5))
  say(path, ago(550), shown('Paid', 15))
  expect(rules()).toEqual([holds, holds])
})

test('a refund that is taken back may be shown or not until that is claimed', () => {
  const paid = order()
  const refund = sagra.refund({ orderId: paid.value.orderId })
  const takenBack = { ...refund, value: { ...refund.value, version: 2, amount: 0, lines: [] } }
  const { kpis, rules } = runOf([sagra.event(), 900], [paid, 800], [refund, 700], [takenBack, null])
  kpis(ago(650), [1, 15, 2])
  kpis(ago(650), [1, 27.5, 3])
  expect(rules()).toEqual([])
  const claimed = runOf([sagra.event(), 900], [paid, 800], [takenBack, 700], [refund, null])
  claimed.kpis(ago(650), [1, 27.5, 3])
  expect(claimed.rules()).toEqual([])
  claimed.kpis(ago(650), [1, 15, 2])
  expect(claimed.rules()).toEqual([holds, holds])
})
