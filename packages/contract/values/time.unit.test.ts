import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatTimestamp, parseTimestamp } from './time.ts'

test('an answer shows milliseconds only if they are not zero', () => {
  expect(formatTimestamp(Date.UTC(2026, 8, 4, 19, 31, 7))).toBe('2026-09-04T19:31:07Z')
  expect(formatTimestamp(Date.UTC(2026, 8, 4, 19, 31, 7, 50))).toBe('2026-09-04T19:31:07.050Z')
})

test('every instant of 1970 to 9999 is read back as it is written, under any offset', () => {
  const instants = fc.integer({ min: 86_400_000, max: Date.UTC(9999, 11, 30) })
  fc.assert(
    fc.property(instants, fc.integer({ min: -1439, max: 1439 }), (at, offset) => {
      expect(parseTimestamp(formatTimestamp(at))).toBe(at)
      const local = new Date(at + offset * 60_000).toISOString().slice(0, -1)
      const size = Math.abs(offset)
      const [hours, minutes] = [Math.floor(size / 60), size % 60].map(part => String(part).padStart(2, '0'))
      expect(parseTimestamp(`${local}${offset < 0 ? '-' : '+'}${hours}:${minutes}`)).toBe(at)
    }),
  )
})
