import { type FeedRecord, simulate } from '@tally/feed'
import type { TestRecord } from '@tally/testkit/processes/tally'
import { type Random, randomFrom } from '@tally/testkit/random'
import { type Festival, newFestival } from '@tally/testkit/records/festival'
import { badRecords } from '../../acceptance/badRecords.ts'

/** The header by which a bad record is known again among the dead letters. */
export const badHeader = 'chaos-bad'

/** Orders of one simulated evening: half a minute at the usual rate, then the next day is opened. */
const ordersAnEvening = 3_000
/** Maximum reordering, in records: refunds before their orders, new versions before old ones, orders before events. */
const disorder = 150

/** A seeded stream of records; each generation has events of its own, so that counting again stays quick. */
export type Load = {
  /** Records in the order in which they are to be sent. `isBad`: must become a dead letter. */
  take: (count: number) => { record: TestRecord; isBad: boolean }[]
  /** The event that only ever gets new paid orders: its totals never shrink. */
  growing: () => Festival
  /** What must be known before keys can be made. */
  organizations: () => TestRecord[]
  nextGeneration: () => void
}

export function openLoad(seed: number): Load {
  const random = randomFrom(seed, 'load')
  const organizationId = random.uuid()
  let generation = 0
  let growing: Festival
  let mixed: Festival
  let simulated: Iterator<FeedRecord>
  let bad: ReturnType<typeof badRecords>
  const waiting: TestRecord[] = []
  let sent: TestRecord[] = []
  let grown: TestRecord[] = []
  let badCount = 0

  const nextGeneration = () => {
    generation++
    growing = newFestival({ organizationId, eventId: random.uuid() })
    // What conflicts with a record or contradicts it depends on what was sent: `contradicting` makes those.
    bad = badRecords(growing).filter(({ reason }) => reason !== 'conflict' && reason !== 'contradiction')
    grown = []
    const run = { seed: Math.abs(seed) * 1_000 + generation, orders: ordersAnEvening, date: '2026-09-04' }
    simulated = simulate({ ...run, evenings: 0 })[Symbol.iterator]()
    // What is still waiting belongs to the last generation and goes out first.
    sent = []
    mixed = newFestival({ organizationId, eventId: random.uuid() })
    waiting.push(growing.event(), mixed.event())
  }

  const next = (): { record: TestRecord; isBad: boolean } => {
    const dice = random.unit()
    if (dice < 0.004) return { record: marked(random.of(bad).record, ++badCount), isBad: true }
    if (dice < 0.006 && grown.length > 0)
      return { record: marked(contradicting(random.of(grown)), ++badCount), isBad: true }
    if (dice < 0.04 && sent.length > 0) return { record: random.of(sent), isBad: false }
    if (dice < 0.15) {
      const record = growing.order(orderOf(random))
      grown = [...grown.slice(-100), record]
      return { record, isBad: false }
    }
    while (waiting.length < disorder) {
      if (random.chance(0.1)) waiting.push(...storyOf(random, mixed))
      else waiting.push(recordOf(simulated.next().value))
    }
    const [record] = waiting.splice(random.whole(0, disorder - 1), 1) as [TestRecord]
    sent.push(record)
    if (sent.length > 500) sent = sent.slice(-250)
    return { record, isBad: false }
  }

  nextGeneration()
  return {
    take: count => Array.from({ length: count }, next),
    growing: () => growing,
    nextGeneration,
    organizations: () => [
      growing.organization(),
      ...[...simulate({ seed: 1, orders: 1, evenings: 1, date: '2026-09-04' })]
        .filter(({ topic }) => topic === 'organizations')
        .map(recordOf),
    ],
  }
}

function recordOf({ topic, key, value }: FeedRecord): TestRecord {
  return { type: topic, key, value: JSON.parse(value ?? 'null') }
}

function marked(record: TestRecord, number: number): TestRecord {
  return { ...record, headers: { ...record.headers, [badHeader]: String(number) } }
}

/** Says something else under the version of an order that was sent before and never changes. */
const contradicting = ({ value, ...record }: TestRecord): TestRecord => ({
  ...record,
  value: { ...value, totalAmount: value.totalAmount + 1 },
})

/** An order from its beginning to its end: paid, perhaps refunded in one of several ways, changed or cancelled. */
function storyOf(random: Random, festival: Festival): TestRecord[] {
  const pending = festival.order({
    status: 'Pending',
    areaId: random.whole(1, 2),
    dayId: random.whole(41, 42),
  })
  const { orderId } = pending.value
  const later = (version: number, over: Record<string, unknown>): TestRecord => ({
    ...pending,
    value: { ...pending.value, version, ...over },
  })
  const story = [pending, later(2, { status: 'Paid' })]
  if (random.chance(0.3))
    story.push(later(5, { totalAmount: 23.5, items: [...pending.value.items, returnedCup] }))
  if (random.chance(0.1)) story.push(later(6, { totalAmount: -4, amountPaid: -4, items: [returnedCup] }))
  if (random.chance(0.6)) {
    const refund = festival.refund({ orderId, amount: random.of([12.5, 10]) })
    story.push(refund)
    if (random.chance(0.3))
      story.push({ ...refund, value: { ...refund.value, version: 2, amount: 0, lines: [] } })
  }
  if (random.chance(0.2)) story.push(festival.refund({ orderId, amount: 2.5, lines: [] }))
  if (random.chance(0.3)) story.push(later(3, { status: 'Completed', areaId: 1, totalAmount: 25 }))
  if (random.chance(0.2)) story.push(later(4, { status: 'Cancelled' }))
  return story
}

const returnedCup = { menuItemId: 9, itemName: 'Cup deposit', quantity: -2, unitPrice: 2, note: null }

/** One to four burgers, in one of the two areas. */
function orderOf(random: Random) {
  const quantity = random.whole(1, 4)
  return {
    areaId: random.whole(1, 2),
    totalAmount: 12.5 * quantity,
    items: [{ menuItemId: 7, itemName: 'Burger', quantity, unitPrice: 12.5, note: null }],
  }
}
