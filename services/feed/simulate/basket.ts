import type { Festival } from '../festivals/festival.ts'
import type { Line } from './bill.ts'
import type { MenuItem } from './calendar.ts'
import type { Random } from './random.ts'

const lineCounts = [
  { lines: 1, weight: 30 },
  { lines: 2, weight: 28 },
  { lines: 3, weight: 19 },
  { lines: 4, weight: 12 },
  { lines: 5, weight: 7 },
  { lines: 6, weight: 4 },
]

const quantities = [
  { quantity: 1, weight: 66 },
  { quantity: 2, weight: 24 },
  { quantity: 3, weight: 6 },
  { quantity: 4, weight: 3 },
  { quantity: 6, weight: 1 },
]

/** One order in 30 has a dish on a second line, with another wish for the kitchen. */
const repeatedLine = 0.03
const noted = 0.06

/** What one guest orders: 1 to 6 lines of what the area sells. */
export function fillBasket(onSale: readonly MenuItem[], { notes }: Festival, random: Random): Line[] {
  const wanted = random.pick(lineCounts).lines
  const lines: Line[] = []
  while (lines.length < wanted && lines.length < onSale.length) {
    const item = random.pick(onSale)
    if (lines.some(line => line.item === item) && !random.chance(repeatedLine)) continue
    const note = random.chance(noted) ? (notes[random.whole(0, notes.length - 1)] ?? null) : null
    lines.push({ item, quantity: random.pick(quantities).quantity, cents: item.cents, note })
  }
  return lines
}
