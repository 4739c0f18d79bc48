import type { EventId, OrderId } from '@tally/contract'
import {
  addChanges,
  type CounterChanges,
  type EventHead,
  factsOf,
  type RefundSums,
  readCounters,
  readEventHeads,
  scanOrders,
  scanRefunds,
} from '@tally/figures'
import type { Tx } from '@tally/platform'
import type { Finding } from '../differences.ts'
import { counterFindings } from './counters.ts'
import { joinRefunds, sumFindings } from './refundSums.ts'

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
