import type { TestRecord } from '../processes/tally.ts'
import { randomFrom } from '../random.ts'
import { type Festival, newFestival } from './festival.ts'

const zones = ['Europe/Rome', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Chatham', 'UTC', null]
const statuses = 'PreOrder Pending Paid Paid Preparing ReadyForPickup Completed Completed Cancelled'.split(
  ' ',
)

/**
 * Records of a whole season, in any order: several versions of everything, repeats, orders that give back, refunds
 * before their orders, of nothing, of more than was paid, less a fee and taken back, changes of zone, days, areas and
 * menu. No two different records claim the same version, so that the order decides nothing (docs/records.md, Which
 * record wins). Two organizations own the events. With `isPlain`, nothing is below zero, and refunds have no versions
 * and no fee: what version 0.2.0 takes.
 */
export function season(
  seed: number,
  { events = 4, orders = 60, isPlain = false } = {},
): { festivals: Festival[]; records: TestRecord[] } {
  const random = randomFrom(seed, 'season')
  /** A number below `n`. */
  const roll = (n: number) => random.whole(0, n - 1)
  const organizations = [newFestival().organizationId, newFestival().organizationId] as const
  const festivals = Array.from({ length: events }, (_, index) =>
    newFestival({ organizationId: organizations[index % 2 === 0 ? 0 : 1] }),
  )
  const records = festivals.flatMap(festival => [
    festival.organization(),
    ...evening(festival, roll, { count: orders, isPlain }),
  ])
  const repeats = records.filter(() => roll(10) === 0)
  return { festivals, records: random.shuffled([...records, ...repeats]) }
}

function evening(
  festival: Festival,
  roll: (n: number) => number,
  { count, isPlain }: { count: number; isPlain: boolean },
): TestRecord[] {
  /** One of four is given back; JSON has no -0. */
  const signed = (amount: number) => (!isPlain && roll(4) === 0 && amount !== 0 ? -amount : amount)
  const ids = Array.from({ length: count }, (_, index) => `${'abAB9~'[roll(6)]}${index}`)
  const line = () => ({
    menuItemId: 1 + roll(6),
    itemName: `Thing ${roll(3)}`,
    quantity: signed(1 + roll(4)),
    unitPrice: signed(roll(2000) / 100),
  })
  const order = (orderId: string, version: number) =>
    festival.order({
      orderId,
      version,
      status: statuses[roll(statuses.length)],
      areaId: 1 + roll(4),
      dayId: 1 + roll(5),
      orderDateTime: new Date(
        Date.UTC(2026, 9, 24 + roll(3), roll(24), roll(60), roll(60), roll(3) * 7),
      ).toISOString(),
      paymentMethod: ['Cash', 'Card', 'card ', ''][roll(4)],
      totalAmount: signed(roll(6000) / 100),
      items: Array.from({ length: roll(5) }, line),
    })
  const refundLine = () => ({ menuItemId: 1 + roll(7), quantity: 1 + roll(5), amount: roll(900) / 100 })
  const refund = (refundId: string, orderId: string, version: number | undefined) => {
    const lines = Array.from({ length: roll(3) }, refundLine)
    const ofLines = lines.reduce((cents, { amount }) => cents + Math.round(amount * 100), roll(3) * 50)
    return festival.refund({
      orderId,
      refundId,
      version,
      refundedAt: roll(5) === 0 ? '2026-08-18T23:00:00Z' : '2026-10-26T10:00:00+02:00',
      amount: (isPlain ? ofLines : roll(1500)) / 100,
      lines,
    })
  }
  const refunds = (index: number): TestRecord[] => {
    const refundId = `r${index}`
    const orderId = ids[roll(count)] ?? 'gone'
    const first = refund(refundId, orderId, isPlain || roll(2) === 0 ? undefined : 1)
    if (isPlain || roll(3) > 0) return [first]
    const takenBack = festival.refund({ orderId, refundId, version: 3, amount: 0, lines: [] })
    return [first, refund(refundId, orderId, 2), ...(roll(2) === 0 ? [takenBack] : [])]
  }
  return [
    ...[1, 2, 3].slice(roll(3)).map(version => festivalEvent(festival, version, roll)),
    ...ids.flatMap(orderId =>
      Array.from({ length: 1 + roll(3) }, (_, index) => order(orderId, 1 + index * 2)),
    ),
    ...Array.from({ length: Math.ceil(count / 3) }, (_, index) => refunds(index)).flat(),
  ]
}

function festivalEvent(festival: Festival, version: number, roll: (n: number) => number): TestRecord {
  const open = roll(7)
  return festival.event({
    version,
    timeZone: zones[roll(zones.length)],
    areas: [1, 2, 3].slice(roll(3)).map(areaId => ({ areaId, name: `Area ${areaId}` })),
    days: [1, 2, 3, 4].slice(roll(4)).map(dayId => ({
      dayId,
      date: `2026-10-2${4 + roll(3)}`,
      openedAt: '2026-10-24T10:00:00Z',
      closedAt: dayId === open ? null : `2026-10-2${7 + roll(2)}T0${roll(3)}:00:00Z`,
    })),
    menuItems: [1, 2, 3, 4]
      .slice(roll(4))
      .map(menuItemId => ({ menuItemId, name: `Dish ${version}-${menuItemId}`, categoryName: '' })),
  })
}
