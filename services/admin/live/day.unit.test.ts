import type { EpochMs } from '@tally/contract'
import type { DocumentName } from '@tally/figures'
import { anEvent } from '@tally/testkit/records/decoded'
import { expect, test } from 'vitest'
import { type DayRead, type DayShown, showDay } from './day.ts'

/** Friday of the festival's fixtures, open from 18:00 to 02:10 in Rome. */
const read = (hours: number[], items: number[][]): DayRead => ({
  event: { ...anEvent(), shard: 0 },
  revision: 1,
  epochs: { documents: 1, asOf: 1 },
  asOfMs: Date.parse('2026-09-05T00:05:00Z') as EpochMs,
  documents: new Map<DocumentName, string>([
    ['hours:41:0', JSON.stringify(hours.map(hour => ({ hour, orderCount: 1, revenue: 0, currency: 'EUR' })))],
    ['items:41:0', JSON.stringify(items)],
  ]),
})
const shown = (day: DayRead, dayId = 41): DayShown => JSON.parse(showDay(day, { dayId }, null))

test('the hours of a screen run through midnight', () => {
  expect(shown(read([0, 1, 18, 23], [])).hours.map(({ hour }) => hour)).toEqual([18, 23, 0, 1])
})

test('neither a returned cup nor what was refunded is a best seller; both stay in the counts', () => {
  const [burger, chips, cup, cupBack] = [7, 9, 70, 71]
  const items = [
    [burger, 5, 42.5, 0, 0],
    [chips, 0, 0, 2, 7],
    [cup, -3, -6, 0, 0],
    [cupBack, 30, -60, 0, 0],
  ]
  const { best, returned, counts } = shown(read([], items))
  expect(best).toMatchObject([{ menuItemId: burger, quantity: 5 }])
  expect(returned).toMatchObject([
    { menuItemId: cupBack, quantity: 30, revenue: -60 },
    { menuItemId: cup, quantity: -3, revenue: -6 },
  ])
  expect(counts.map(({ quantitySold }) => quantitySold)).toEqual([5, 0, -3, 30])
})
