import { expect, test } from 'vitest'
import { festivals } from '../festivals/index.ts'
import { festivalBooks } from '../test/readRecords.ts'
import { simulate } from './simulate.ts'

const books = festivalBooks([...simulate({ seed: 1, orders: 6000, evenings: 1, date: '2026-09-04' })])

test('three festivals sell past midnight, on the day that was opened the evening before', () => {
  const late = books.flatMap(({ event, orders }) => {
    const clock = new Intl.DateTimeFormat('en-CA', { timeZone: event.timeZone, dateStyle: 'short' })
    const [day] = event.days
    const after = [...orders.values()].filter(
      ({ orderDateTime }) => clock.format(orderDateTime) === '2026-09-05',
    )
    if (after.length === 0) return []
    expect([event.days.length, day?.date]).toEqual([1, '2026-09-04'])
    expect(new Set(after.map(({ dayId }) => dayId))).toEqual(new Set([day?.dayId]))
    expect(day?.closedAt).toBeGreaterThan(Math.max(...after.map(({ orderDateTime }) => orderDateTime)))
    return [{ name: event.name, orders: after.length }]
  })
  expect(late.map(({ name }) => name)).toEqual([
    'Sagra del Pesce 2026 (simulated)',
    'Nachtschicht am Kanal 2026 (simulated)',
    'Verbena del Olivar 2026 (simulated)',
  ])
  // The first organization is the one that `npm start` shows: there it is to be seen.
  expect(festivals[0]?.eventName).toBe('Sagra del Pesce')
  expect(late[0]?.orders).toBeGreaterThan(200)
})
