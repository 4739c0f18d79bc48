import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maxCents, money, signedMoney, toCents, toEuros } from './money.ts'

test('every amount of whole cents survives parsing and formatting', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: maxCents }), cents => {
      const wire = JSON.parse(`${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`) as number
      expect(money.parse(wire)).toBe(cents)
      expect(toEuros(toCents(wire))).toBe(wire)
      if (cents > 0) expect(signedMoney.parse(-wire)).toBe(-cents)
    }),
    { numRuns: 2_000 },
  )
})

test('an amount with a third decimal is refused, however large', () => {
  const third = fc
    .integer({ min: 0, max: maxCents })
    .chain(cents =>
      fc
        .integer({ min: 1, max: 9 })
        .map(digit => JSON.parse(`${(cents / 100).toFixed(2)}${digit}`) as number),
    )
  fc.assert(
    fc.property(third, euros => {
      expect(money.safeParse(euros).success).toBe(false)
      expect(signedMoney.safeParse(-euros).success).toBe(false)
    }),
  )
})

test('minus zero is zero', () => {
  expect(Object.is(money.parse(-0), 0)).toBe(true)
  expect(Object.is(signedMoney.parse(-0), 0)).toBe(true)
})
