import type { Festival } from '../festivals/festival.ts'
import type { Random } from './random.ts'

/** How a guest pays a total (in cents), or is paid back what is below zero. */
export function payment({ paymentMethods }: Festival, totalCents: number, random: Random) {
  const { name, isCash } = random.pick(paymentMethods)
  return {
    totalCents,
    paymentMethod: name,
    tenderedCents: isCash && totalCents > 0 ? cashFor(totalCents, random) : totalCents,
  }
}

/** The coins and notes that a guest puts down: the exact sum, or rounded up to what is in the purse. */
function cashFor(totalCents: number, random: Random): number {
  const { step } = random.pick([
    { step: 1, weight: 30 },
    { step: 50, weight: 14 },
    { step: 500, weight: 26 },
    { step: 1000, weight: 20 },
    { step: 5000, weight: 10 },
  ])
  return Math.ceil(totalCents / step) * step
}
