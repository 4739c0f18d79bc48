import {
  type EpochMs,
  type EventId,
  formatTimestamp,
  type OrderId,
  type OrganizationId,
} from '@tally/contract'
import {
  addChanges,
  addCounters,
  type Counter,
  type CounterChanges,
  changeRefunds,
  columnOf,
  counterNames,
  counters,
  type EventHead,
  factsOf,
  noRefunds,
  type OwnKey,
  type RefundSums,
  type Row,
  readCounters,
  readEventHeads,
  type ScannedOrder,
  type ScannedRefund,
  scanOrders,
  scanRefunds,
} from '@tally/figures'
import type { Tx } from '@tally/platform'

/** An order whose stored refund sums are wrong, with the right ones; `written` is undefined if it has no row. */
type DamagedOrder = { orderId: OrderId; written: string | undefined; sums: RefundSums }

/** The recounted and the stored counters of an event, both at the head's revision. */
export type Recount = {
  head: EventHead
  counted: CounterChanges
  stored: CounterChanges
  /** At most `damagedAtOnce`; a repair counts again until there are none. */
  damaged: DamagedOrder[]
}

/** Damaged orders per repair: memory must not grow with the event. */
const damagedAtOnce = 10_000

/**
 * Counts an event again from its stored orders and refunds, inside one snapshot: refund sums from the refunds,
 * everything else from the orders with these sums, by the same core that counts records. Calls `onFinding` for
 * every order whose stored sums are wrong.
 */
export async function recountEvent(
  snapshot: Tx,
  head: EventHead,
  onFinding: (finding: Finding) => void = () => {},
): Promise<Recount> {
  const { eventId } = head
  const counted: CounterChanges = new Map()
  const damaged: DamagedOrder[] = []

  for await (const order of joinRefunds(scanOrders(snapshot, eventId), scanRefunds(snapshot, eventId))) {
    const { orderId, kept, sums } = order
    const findings = sumFindings(order)
    findings.forEach(onFinding)
    if (findings.length > 0 && damaged.length < damagedAtOnce) {
      damaged.push({ orderId, written: kept?.written, sums })
    }
    const facts = factsOf({ order: kept?.order, refunds: sums })
    if (facts !== undefined) addChanges(counted, [{ sign: 1, facts }])
  }
  return { head, counted, stored: await readCounters(snapshot, eventId), damaged }
}

/** The same for one event by id; undefined if the event is unknown or removed. */
export async function recount(snapshot: Tx, eventId: EventId): Promise<Recount | undefined> {
  const [head] = await readEventHeads(snapshot, [eventId])
  return head === undefined || head.isRemoved ? undefined : recountEvent(snapshot, head)
}

/** Whether the stored counters and refund sums of an event equal the recounted ones. */
export function agrees({ counted, stored, damaged }: Recount): boolean {
  return damaged.length === 0 && counterFindings(counted, stored).length === 0
}

/** An order as it is stored (`kept`, undefined if it has no row) with the sum of all its refunds. */
type OrderWithRefunds = {
  orderId: OrderId
  kept: ScannedOrder | undefined
  sums: RefundSums
  refunds: number
}

/** Joins orders and refunds, both sorted by order id in byte order. Includes refunds without an order. */
async function* joinRefunds(
  orders: AsyncGenerator<ScannedOrder, undefined>,
  refunds: AsyncGenerator<ScannedRefund, undefined>,
): AsyncGenerator<OrderWithRefunds> {
  let order = (await orders.next()).value
  let refund = (await refunds.next()).value
  while (order !== undefined || refund !== undefined) {
    const orderId = first(order?.orderId, refund?.orderId)
    const entry: OrderWithRefunds = { orderId, kept: undefined, sums: noRefunds, refunds: 0 }
    if (order?.orderId === orderId) {
      entry.kept = order
      order = (await orders.next()).value
    }
    while (refund !== undefined && refund.orderId === orderId) {
      entry.sums = changeRefunds(entry.sums, [{ before: undefined, after: refund }])
      entry.refunds += 1
      refund = (await refunds.next()).value
    }
    yield entry
  }
}

function first(one: OrderId | undefined, other: OrderId | undefined): OrderId {
  if (one === undefined || other === undefined) return (one ?? other) as OrderId
  return one < other ? one : other
}

/** The stored sums of an order that differ from the sum of its refunds. */
function sumFindings({ orderId, kept, sums, refunds }: OrderWithRefunds): Finding[] {
  const finding = (column: string, found: unknown, counted: unknown): Finding => ({
    where: 'postgres',
    what: `orders ${orderId} ${column}`,
    found,
    counted,
  })
  // Only refunds arrived, and the row that should hold their sum is missing.
  if (kept === undefined) return [finding('refunded_cents', null, sums.amount)]
  const lines = JSON.stringify(sums.lines)
  // Without refunds there may be no sums at all; with refunds there must be, or the next refund would be added to
  // nothing.
  const linesAgree = kept.refundedLines === null ? refunds === 0 : sameLines(kept.refundedLines, lines)
  return [
    ...(kept.refundedCents === sums.amount
      ? []
      : [finding('refunded_cents', kept.refundedCents, sums.amount)]),
    ...(linesAgree ? [] : [finding('refunded_lines', kept.refundedLines, lines)]),
  ]
}

function sameLines(stored: string, counted: string): boolean {
  if (stored === counted) return true
  try {
    return JSON.stringify(JSON.parse(stored)) === counted
  } catch {
    return false
  }
}

/** What must be added to the `stored` counters to get the `counted` ones. */
export function correction(counted: CounterChanges, stored: CounterChanges): CounterChanges {
  const changes: CounterChanges = new Map()
  addCounters(changes, counted, 1)
  addCounters(changes, stored, -1)
  return changes
}

/**
 * Each counter whose stored value differs from the counted one, by name: `item_counters day 41 area 0 item 7 quantity`.
 * A row of zeros equals a missing row.
 */
export function counterFindings(counted: CounterChanges, stored: CounterChanges): Finding[] {
  const findings: Finding[] = []
  for (const [dayId, areas] of correction(counted, stored)) {
    for (const [areaId, area] of areas) {
      for (const name of counterNames) {
        const is = stored.get(dayId)?.get(areaId)?.[name] as ReadonlyMap<OwnKey, Row> | undefined
        for (const [key, row] of area[name]) {
          for (const [amount, lacking] of Object.entries(row)) {
            if (lacking === 0) continue
            const what = `${placeOf(counters[name], { dayId, areaId, key })} ${columnOf(amount)}`
            const found = is?.get(key)?.[amount] ?? 0
            findings.push({ where: 'postgres', what, found, counted: found + lacking })
          }
        }
      }
    }
  }
  return findings
}

type Place = { dayId: number; areaId: number; key: OwnKey }

/** The name of a row: its table, and each column of its key with the value. */
function placeOf({ table, key: columns }: Counter, { dayId, areaId, key }: Place): string {
  const named = Object.entries(columns).map(([column, type]) => {
    if (column === 'day_id') return `day ${dayId}`
    if (column === 'area_id') return `area ${areaId}`
    if (type === 'text') return `${column} ${JSON.stringify(key)}`
    return `${column} ${type === 'time' ? formatTimestamp(key as EpochMs) : key}`
  })
  return [table, ...named].join(' ')
}

/** One figure that differs: `what` names it, `found` is stored, `counted` is correct, null if there is none. */
export type Difference = ({ event: EventId } | { organization: OrganizationId }) & {
  where: 'postgres' | 'redis'
  what: string
  found: unknown
  counted: unknown
}

/** A difference without its event or organization. */
export type Finding = Pick<Difference, 'where' | 'what' | 'found' | 'counted'>
