import { z } from 'zod'

declare const centsBrand: unique symbol
/** Whole euro cents. All sums and comparisons of money are made in this unit (docs/records.md, Values). */
export type Cents = number & { [centsBrand]: true }

export const maxCents = 9_999_999_999 as Cents
export const maxEuros = 99_999_999.99

/**
 * An amount in euros on the wire, whole cents inside. It must be the number nearest to an amount with at most two
 * decimals (docs/records.md, Values): 12.5 is valid, 12.505 is not. Its JSON Schema does not say `multipleOf: 0.01`:
 * validators divide binary fractions, and so refuse 11,426 of the 100,000 amounts up to 999.99.
 */
const amountFrom = (minEuros: number) =>
  z
    .number()
    .min(minEuros, `must be at least ${minEuros}`)
    .max(maxEuros, `must be at most ${maxEuros}`)
    .meta({ description: 'EUR, with at most two decimals' })
    .transform((euros, context) => {
      const cents = toCents(euros)
      if (cents / 100 !== euros)
        context.issues.push({ code: 'custom', message: 'must have at most two decimals', input: euros })
      return cents
    })

/** An amount of a refund: 0 or more. */
export const money = amountFrom(0)

/** An amount of an order: what is given back (a deposit, a discount) is below zero (docs/records.md, Order). */
export const signedMoney = amountFrom(-maxEuros)

/** For a rule about the sum of a record's lines: with a wrong line, it means nothing. */
export const allLinesAreRight = ({ issues }: z.core.ParsePayload): boolean => issues.length === 0

/** Euros with at most two decimals to whole cents. `+ 0` turns -0 into 0. */
export function toCents(euros: number): Cents {
  return (Math.round(euros * 100) + 0) as Cents
}

/** Whole cents to the euros of the API, a JSON number with at most two decimals. */
export function toEuros(cents: number): number {
  return cents / 100
}
