import { isDeepStrictEqual } from 'node:util'
import { confirmedStatuses } from '@tally/testkit/oracle/event'
import { figures } from '@tally/testkit/oracle/figures'
import { presentOrder } from '@tally/testkit/oracle/present'
import type { Raw } from './book.ts'

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
  /** The versions of each refund. */
  refunds: Map<string, Entry[]>
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
  const versions = type === 'orders' ? order.versions : (order.refunds.get(value.refundId) ?? [])
  if (type === 'refunds') order.refunds.set(value.refundId, versions)
  const known = versions.find(entry => versionOf(entry.value) === versionOf(value))
  if (known !== undefined) return known
  versions.push(added)
  return added
}

/** A refund without version is version 1. */
const versionOf = (value: Raw): number => value.version ?? 1

/** Recounts what is acknowledged of an order. */
export function countAgain(order: OrderJournal): void {
  const [counted] = candidatesOf(order, Number.POSITIVE_INFINITY)
  order.dayId = counted?.value?.dayId
  order.share =
    counted?.value === undefined ? nothing : shareOf(counted.value, counted.refunds(amountOf, 'least'))
}

/** The range of what an order may add to a total, of one day or of all, in an answer with `asOfMs`. */
export function rangeOf(order: OrderJournal, asOfMs: number, total: Total, dayId?: number): [number, number] {
  const back = total === 'items' ? quantityOf : amountOf
  const values = candidatesOf(order, asOfMs).flatMap(({ value, refunds }) =>
    extremes.map(extreme =>
      value === undefined || (dayId !== undefined && value.dayId !== dayId)
        ? 0
        : shareOf(value, refunds(back, extreme))[total],
    ),
  )
  return [Math.min(...values), Math.max(...values)]
}

/** Whether an answer with `asOfMs` may show an order in this state. */
export function mayShow(order: OrderJournal, asOfMs: number, shown: Raw): boolean {
  const { effectiveAmount, ...rest } = shown
  const effective = Math.round(effectiveAmount * 100)
  return candidatesOf(order, asOfMs).some(({ value, refunds }) => {
    if (value === undefined) return false
    const most = figures(value, refunds(amountOf, 'least'))
    const least = figures(value, refunds(amountOf, 'most'))
    const { effectiveAmount: _, ...expected } = presentOrder(most)
    return effective <= most.effective && effective >= least.effective && isDeepStrictEqual(expected, rest)
  })
}

/** What a refund takes back, of money or of portions. */
type Back = (refund: Raw) => number
const amountOf: Back = ({ amount }) => amount
const quantityOf: Back = ({ lines }) =>
  (lines ?? []).reduce((sum: number, { quantity }: Raw) => sum + quantity, 0)

/** Whether its refunds take back the least or the most that they may. */
type Extreme = 'least' | 'most'
const extremes: Extreme[] = ['least', 'most']

/**
 * The states of an order that an answer with `asOfMs` may show: any of its possible versions, each with a possible
 * version of each refund, of which `refunds` picks those that take back the least or the most.
 */
function candidatesOf({ versions, refunds }: OrderJournal, asOfMs: number) {
  const ofRefunds = [...refunds.values()].map(ofRefund => possible(ofRefund, asOfMs))
  const pick = (back: Back, extreme: Extreme): Raw[] =>
    ofRefunds.flatMap(all => {
      const amounts = all.map(refund => (refund === undefined ? 0 : back(refund)))
      return all[amounts.indexOf(Math[extreme === 'least' ? 'min' : 'max'](...amounts))] ?? []
    })
  return possible(versions, asOfMs).map((value: Raw) => ({ value, refunds: pick }))
}

/** The winning version of those acknowledged before (undefined if there is none), and all higher ones. */
function possible(versions: Entry[], asOfMs: number): Raw[] {
  const sure = versions
    .filter(({ ackMs }) => ackMs < asOfMs)
    .reduce<Raw | undefined>(
      (best, { value }) => (best === undefined || versionOf(value) > versionOf(best) ? value : best),
      undefined,
    )
  const later = versions.filter(({ value }) => sure === undefined || versionOf(value) > versionOf(sure))
  return [sure, ...later.map(({ value }) => value)]
}

function shareOf(order: Raw, refunds: Raw[]): Share {
  const listed = order.status === 'Cancelled' ? 0 : 1
  const standing = { ...nothing, listed, cancelled: 1 - listed }
  if (!confirmedStatuses.includes(order.status)) return standing
  const { items, effective } = figures(order, refunds)
  const sold = items.reduce((sum, { quantity }) => sum + quantity, 0)
  return { ...standing, orders: 1, cents: effective, items: sold }
}
