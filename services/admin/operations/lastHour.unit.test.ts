import { expect, test } from 'vitest'
import { formatIn } from '../views/format.ts'
import { hourView, minutesOf, type Sample } from './lastHour.ts'
import { operationsView } from './view.ts'

const nowMs = 10_000_000
/** Samples every 30 s until now, the last of them as given: records read so far, dead letters so far, lag. */
const samplesOf = (...counts: [number | null, number | null, number | null][]): Sample[] =>
  counts.map(([read, deadLetters, lag], index) => ({
    atMs: nowMs - (counts.length - 1 - index) * 30_000,
    read,
    deadLetters,
    lag,
  }))
const nothing = { readPerMinute: null, deadLetters: null, lag: null }

test('a column has the records per minute, the new dead letters and the greatest lag of its two minutes', () => {
  const samples = samplesOf([1_000, 4, 9], [1_050, 4, 9], [1_100, 6, 70], [1_200, 7, 0])
  const columns = minutesOf(samples, nowMs)
  expect(columns).toHaveLength(30)
  expect(columns.at(-1)).toEqual({ readPerMinute: 133, deadLetters: 3, lag: 70 })
  expect(columns.slice(0, -1)).toEqual(Array(29).fill(nothing))
  expect(minutesOf(samples, nowMs + 60_000).at(-1)).toEqual({ readPerMinute: 150, deadLetters: 3, lag: 70 })
})

test('what a silent server leaves out is unknown, and counts that begin again are not below zero', () => {
  const gone = samplesOf([1_000, 4, 0], [null, 5, null], [1_100, null, null], [20, 0, 3])
  expect(minutesOf(gone, nowMs).at(-1)).toEqual({ readPerMinute: 0, deadLetters: 1, lag: 3 })
  expect(minutesOf([], nowMs)).toEqual(Array(30).fill(nothing))
})

test('the page says in words what each chart shows', () => {
  const samples = samplesOf([0, 0, 40], [600, 2, 10]).map(sample => ({
    ...sample,
    atMs: Date.now() - nowMs + sample.atMs,
  }))
  const page = String(hourView(samples, formatIn('en')))
  expect(page).toContain('aria-label="Records read per minute: 1,200 now, 1,200 at most"')
  expect(page).toContain('aria-label="New dead letters: 2 in all"')
  expect(page).toContain('<title>2 to 0 min ago: 10</title>')
  expect(String(hourView([], formatIn('en')))).toBe('')
})

test('a Postgres that tells its version and nothing else does not count as one that answers', () => {
  const parts = [{ name: 'Postgres', about: '18.4' } as const]
  const nothing = {
    shards: [],
    samples: [],
    heldBack: [],
    versions: [],
    deadLetters: undefined,
    stored: undefined,
  }
  const page = { format: formatIn('en'), refreshes: true }
  expect(String(operationsView({ parts, ...nothing }, page))).toContain(
    'revoked">● Postgres does not answer<',
  )
})
