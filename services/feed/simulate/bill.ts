import type { Area, Festival } from '../festivals/festival.ts'
import { type MenuItem, menuItems } from './calendar.ts'

/** `cents` is the unit price; it or `quantity` is below zero in a line that gives back. */
export type Line = { item: MenuItem; quantity: number; cents: number; note: string | null }

/** What an area sells, and what its tills add to a bill by themselves. */
export type OnSale = {
  items: readonly MenuItem[]
  /** The deposit; null if nothing that the area sells comes in a cup. */
  cup: MenuItem | null
  /** What a cup that comes back is on the bill; null as `cup`. */
  returned: MenuItem | null
  voucher: MenuItem | null
}

/** What is paid back for a cup, and what a voucher takes off; neither is sold by itself. */
const isSold = ({ item }: Line): boolean => item.soldAt.length > 0

const known = new Map<Area, OnSale>()

/** What an area of a festival sells. */
export function onSaleAt(festival: Festival, area: Area): OnSale {
  let onSale = known.get(area)
  if (onSale === undefined) {
    const menu = menuItems(festival)
    const items = menu.filter(({ soldAt }) => soldAt.includes(area.areaId))
    const named = (name: string | undefined) => menu.find(item => item.name === name) ?? null
    const lendsCups = items.some(({ name }) => isInCup(festival, name))
    const cup = lendsCups ? named(festival.deposit?.name) : null
    onSale = {
      items,
      cup,
      returned: cup && (named(festival.deposit?.returnedAs) ?? cup),
      voucher: named(festival.voucher?.name),
    }
    known.set(area, onSale)
  }
  return onSale
}

const isInCup = ({ deposit }: Festival, name: string): boolean => deposit?.cupOf.includes(name) === true

/** The cups that are lent with a basket. */
export function cupsIn(festival: Festival, basket: readonly Line[]): number {
  return basket.reduce((sum, { item, quantity }) => sum + (isInCup(festival, item.name) ? quantity : 0), 0)
}

/** The lines of a bill: the basket, the deposit for its cups, the cups that the guest gives back, and a voucher. */
export function billOf(
  festival: Festival,
  { cup, returned, voucher }: OnSale,
  basket: readonly Line[],
  { cupsBack, hasVoucher }: { cupsBack: number; hasVoucher: boolean },
): Line[] {
  const line = (item: MenuItem | null, quantity: number, sign: 1 | -1 = 1): Line[] =>
    item === null || quantity === 0 ? [] : [{ item, quantity, cents: sign * item.cents, note: null }]
  return [
    ...basket,
    ...line(cup, cupsIn(festival, basket)),
    ...(festival.deposit?.isReturnedBy === 'price'
      ? line(returned, cupsBack, -1)
      : line(returned, -cupsBack)),
    ...line(voucher, hasVoucher ? 1 : 0),
  ]
}

/** What the guest pays for a bill, in cents: below zero if the cups that come back are worth more than the rest. */
export function totalOf(lines: readonly Line[], discountPercent: number, coverCents: number): number {
  const sold = grossOf(lines.filter(isSold))
  return Math.round((sold * (100 - discountPercent)) / 100) + grossOf(lines) - sold + coverCents
}

/** Cents paid for some portions of a line, rounded down if there was a discount. */
export function paidFor(line: Line, quantity: number, discountPercent: number): number {
  return Math.floor((line.cents * quantity * (isSold(line) ? 100 - discountPercent : 100)) / 100)
}

/** Quantity × price over all lines, in cents. */
export function grossOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { quantity, cents }) => sum + quantity * cents, 0)
}
