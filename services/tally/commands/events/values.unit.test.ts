import { expect, test } from 'vitest'
import { ageOf } from './values.ts'

const nowMs = Date.parse('2026-11-23T12:00:00Z')

test.each([
  ['90d', { interval: '90 days' }],
  ['12w', { interval: '12 weeks' }],
  ['18mo', { interval: '18 months' }],
  ['2y', { interval: '2 years' }],
  ['2024-12-31', { before: Date.parse('2024-12-31T00:00:00Z') }],
  ['2026-11-23', { before: Date.parse('2026-11-23T00:00:00Z') }],
])('--older-than takes %s', (text, age) => {
  expect(ageOf(text, nowMs)).toEqual(age)
})

test.each(['0d', '1', '-3d', '1000y', '5m', '1.5y', '2026-11-24', '2024-02-30', '31.12.2024', ''])(
  '--older-than refuses %j',
  text => {
    expect(() => ageOf(text, nowMs)).toThrow(
      `--older-than takes a duration such as 90d, 12w, 18mo or 2y, or a past date such as 2024-12-31, got ${JSON.stringify(text)}`,
    )
  },
)
