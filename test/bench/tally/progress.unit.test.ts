import { expect, test } from 'vitest'
import { momentOf } from './progress.ts'

const notes = [
  { atMs: 1_000, records: 0 },
  { atMs: 1_100, records: 400 },
  { atMs: 1_200, records: 500 },
]

test('a time between two samples is interpolated by the records between them', () => {
  expect(momentOf(notes, 100)).toBe(1_025)
  expect(momentOf(notes, 400)).toBe(1_100)
  expect(() => momentOf(notes, 501)).toThrow('never seen at 501 records')
})
