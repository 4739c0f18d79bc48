import { anEvent } from '@tally/testkit/records/decoded'
import { saturday } from '@tally/testkit/records/records'
import { expect, test } from 'vitest'
import { compareEvents, composeEvent } from './reader.ts'

test('an event shows its open day', () => {
  expect(composeEvent(anEvent())).toEqual({
    id: anEvent().eventId,
    name: 'Sagra del Pesce',
    startDate: '2026-09-04T16:00:00Z',
    isOpen: true,
    currentDay: { id: saturday, date: '2026-09-05', openedAt: '2026-09-05T16:00:00Z' },
  })
})

test('an event is open exactly when it has a current day', () => {
  expect(composeEvent(anEvent({ days: [] }))).toMatchObject({ isOpen: false, currentDay: null })
})

test('events: the latest start first, then the lower id', () => {
  const event = (last: string, startDate: string) =>
    anEvent({ eventId: `7c1e0000-0000-4000-8000-00000000000${last}`, startDate })
  const sorted = [
    event('3', '2026-09-04T16:00:00Z'),
    event('1', '2026-09-04T16:00:00Z'),
    event('2', '2026-10-01T00:00:00Z'),
  ].sort(compareEvents)
  expect(sorted.map(({ eventId }) => eventId.at(-1))).toEqual(['2', '1', '3'])
})
