import { isDeepStrictEqual } from 'node:util'
import { presentOrder } from './answers.ts'
import { confirmedStatuses, countOrder } from './count.ts'
import type { Raw } from './eventBook.ts'

/** What one order adds to its event's totals; `listed` and `cancelled` are of the order lists. */
export type Share = { orders: number; cents: number; items: number; listed: number; cancelled: number }
export type Total = keyof Share

const nothing: Share = { orders: 0, cents: 0, items: 0, listed: 0, cancelled: 0 }
export const totals = Object.keys(nothing) as Total[]

/** A record and when Kafka first acknowledged it: infinity until then. */
export type Entry = { value: Raw; ackMs: number }

/** Everything sent of an order, and what its acknowledged records add to totals. */
export type OrderJournal = {
  versions: Entry[]
  refunds: Map<string, Entry>
  dayId: number | undefined
  share: Share
}

export const newOrder = (): OrderJournal => ({
  versions: [],
  refunds: new Map(),
  dayId: undefined,
  share: nothing,
})

/** Notes a record that is being sent; one that only repeats another is the same entry. */
export function noteRecord(order: OrderJournal, type: 'orders' | 'refunds', value: Raw): Entry {
  const added = { value, ackMs: Number.POSITIVE_INFINITY }
  const known =
    type === 'refunds'
      ? order.refunds.get(value.refundId)
      : order.versions.find(entry => entry.value.version === value.version)
  if (known !== undefined) return known
  if (type === 'refunds') order.refunds.set(value.refundId, added)
  else order.versions.push(added)
  return added
}

/** Recounts what is acknowledged of an order. */
export function countAgain(order: OrderJournal): void {
  const [counted] = candidatesOf(order, Number.POSITIVE_INFINITY)
  order.dayId = counted?.value?.dayId
  order.share = counted?.value === undefined ? nothing : shareOf(counted.value, counted.refunds)
}

/** The range of what an order may add to a total, of one day or of all, in an answer with `asOfMs`. */
export function rangeOf(order: OrderJournal, asOfMs: number, total: Total, dayId?: number): [number, number] {
  const values = candidatesOf(order, asOfMs).flatMap(({ value, refunds, mayCome }) =>
    [refunds, [...refunds, ...mayCome]].map(all =>
      value === undefined || (dayId !== undefined && value.dayId !== dayId) ? 0 : shareOf(value, all)[total],
    ),
  )
  return [Math.min(...values), Math.max(...values)]
}

/** Whether an answer with `asOfMs` may show an order in this state. */
export function mayShow(order: OrderJournal, asOfMs: number, shown: Raw): boolean {
  const { effectiveAmount, ...rest } = shown
  const effective = Math.round(effectiveAmount * 100)
  return candidatesOf(order, asOfMs).some(({ value, refunds, mayCome }) => {
    if (value === undefined) return false
    const most = countOrder(value, refunds)
    const least = countOrder(value, [...refunds, ...mayCome])
    const { effectiveAmount: _, ...expected } = presentOrder(most)
    return effective <= most.effective && effective >= least.effective && isDeepStrictEqual(expected, rest)
  })
}

/**
 * The states of an order that an answer with `asOfMs` may show: the winning version of those acknowledged before, or
 * any higher one; with all refunds acknowledged before, and any of the others.
 */
function candidatesOf({ versions, refunds }: OrderJournal, asOfMs: number) {
  const sure = versions
    .filter(({ ackMs }) => ackMs < asOfMs)
    .reduce<Raw | undefined>(
      (best, { value }) => (best === undefined || value.version > best.version ? value : best),
      undefined,
    )
  const later = versions.filter(({ value }) => value.version > (sure?.version ?? 0))
  const [before, after] = [[] as Raw[], [] as Raw[]]
  for (const { value, ackMs } of refunds.values()) (ackMs < asOfMs ? before : after).push(value)
  return [sure, ...later.map(({ value }) => value)].map((value: Raw) => ({
    value,
    refunds: before,
    mayCome: after,
  }))
}

function shareOf(order: Raw, refunds: Raw[]): Share {
  const listed = order.status === 'Cancelled' ? 0 : 1
  const standing = { ...nothing, listed, cancelled: 1 - listed }
  if (!confirmedStatuses.includes(order.status)) return standing
  const { items, effective } = countOrder(order, refunds)
  const sold = [...items.values()].reduce((sum, { quantity }) => sum + quantity, 0)
  return { ...standing, orders: 1, cents: effective, items: sold }
}
