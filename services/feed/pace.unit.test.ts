import { expect, test } from 'vitest'
import { type Pace, timetable } from './pace.ts'
import type { FeedRecord, FeedTopic } from './record.ts'

const record = (topic: FeedTopic, atMs: number | null): FeedRecord => ({ atMs, topic, key: 'k', value: null })

function due(pace: Pace, records: FeedRecord[]): number[] {
  const dueOf = timetable(pace)
  return records.map(dueOf)
}

test('without a pace every record is due at once', () => {
  expect(due({ kind: 'unpaced' }, [record('orders', 0), record('orders', 5000)])).toEqual([0, 0])
})

test('a rate counts only orders; records between two of them are sent with the later one', () => {
  const records = [
    record('events', null),
    record('orders', 0),
    record('refunds', 0),
    record('orders', 0),
    record('orders', 0),
  ]
  expect(due({ kind: 'rate', ordersPerSecond: 4 }, records)).toEqual([0, 0, 250, 250, 500])
})

test('a speed shortens the gaps of own time', () => {
  const records = [record('orders', 60_000), record('orders', 61_000), record('refunds', 71_000)]
  expect(due({ kind: 'speed', factor: 10 }, records)).toEqual([0, 100, 1100])
})

test('a record without a time, or older than the one before it, is sent with that one', () => {
  const records = [
    record('events', null),
    record('orders', 1000),
    record('orders', 3000),
    record('events', null),
    record('orders', 500),
    record('orders', 4000),
  ]
  expect(due({ kind: 'speed', factor: 1 }, records)).toEqual([0, 0, 2000, 2000, 2000, 3000])
})

const withGap = [0, 1000, 90_000, 91_000].map(atMs => record('orders', atMs))

test('no gap takes longer than the longest wait, and what comes after it follows at the speed', () => {
  expect(due({ kind: 'speed', factor: 2, longestWaitMs: 700 }, withGap)).toEqual([0, 500, 1200, 1700])
})

test('a gap longer than the longest allowed is skipped', () => {
  expect(due({ kind: 'speed', factor: 1, longestGapMs: 10_000 }, withGap)).toEqual([0, 1000, 1000, 2000])
})
