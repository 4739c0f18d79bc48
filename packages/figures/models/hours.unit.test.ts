import type { EpochMs } from '@tally/contract'
import { applyOrder } from '@tally/projection'
import { anOrder } from '@tally/testkit/records/decoded'
import { anyZone, instant } from '@tally/testkit/records/instants'
import { friday } from '@tally/testkit/records/records'
import fc from 'fast-check'
import moment from 'moment-timezone'
import { expect, test } from 'vitest'
import type { Row } from '../counting/counter.ts'
import { addChanges, type CounterChanges } from '../counting/counters.ts'
import { unknownOrder } from '../counting/facts.ts'
import { hourIn } from '../time.ts'
import { composeHours } from './hours.ts'

const bucket = (time: string) => Date.parse(`2026-09-04T${time}:00Z`) as EpochMs
const inUtc = hourIn('UTC')

test('hours are ascending, and only hours with an order are listed', () => {
  const totals: [number, Row<'orders' | 'salesCents'>][] = [
    [bucket('23:45'), { orders: 2, salesCents: 250 }],
    [bucket('00:00'), { orders: 1, salesCents: 0 }],
    [bucket('09:15'), { orders: 0, salesCents: 0 }],
  ]
  expect(composeHours(totals, inUtc)).toEqual([
    { hour: 0, orderCount: 1, revenue: 0, currency: 'EUR' },
    { hour: 23, orderCount: 2, revenue: 2.5, currency: 'EUR' },
  ])
})

test('time buckets of one local hour are one hour, on whatever date', () => {
  const totals: [number, Row<'orders' | 'salesCents'>][] = [
    [bucket('19:30'), { orders: 1, salesCents: 100 }],
    [bucket('19:45'), { orders: 2, salesCents: 200 }],
    [(bucket('19:30') + 86_400_000) as EpochMs, { orders: 4, salesCents: 400 }],
    [bucket('20:00'), { orders: 8, salesCents: 800 }],
  ]
  expect(composeHours(totals, inUtc).map(({ hour, revenue }) => [hour, revenue])).toEqual([
    [19, 7],
    [20, 8],
  ])
  expect(composeHours(totals, hourIn('Asia/Kathmandu')).map(({ hour, revenue }) => [hour, revenue])).toEqual([
    [1, 15],
  ])
})

/** The orders of each hour, as `hour: orders`, computed with moment from the orders themselves. */
function bruteForceHours(instants: number[], timeZone: string): string[] {
  const hours = Map.groupBy(instants, at => moment.tz(at, timeZone).hour())
  return [...hours].sort(([one], [other]) => one - other).map(([hour, { length }]) => `${hour}: ${length}`)
}

test('the hours of a document are those of its orders, in any zone and at any instant', () => {
  // Later ones are beyond moment's data: packages/contract/values/timeZones.unit.test.ts has some.
  const anyInstant = fc.oneof(instant, fc.integer({ min: 0, max: Date.UTC(2500, 0, 1) - 1 }))
  fc.assert(
    fc.property(anyZone, fc.array(anyInstant, { minLength: 1, maxLength: 20 }), (zone, instants) => {
      const changes: CounterChanges = new Map()
      for (const at of instants) {
        const order = anOrder({ orderDateTime: new Date(at).toISOString() })
        const outcome = applyOrder(unknownOrder, order)
        if (outcome.outcome === 'applied') addChanges(changes, outcome.changes)
      }
      const document = composeHours(changes.get(friday)?.get(0)?.hourly ?? [], hourIn(zone))
      expect(document.map(({ hour, orderCount }) => `${hour}: ${orderCount}`)).toEqual(
        bruteForceHours(instants, zone),
      )
    }),
    { numRuns: 1_000 },
  )
})
