import type { TestRecord } from '@tally/testkit/processes/tally'
import type { Random } from '@tally/testkit/random'
import type { Festival } from '@tally/testkit/records/festival'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** An event with the longest lists that docs/records.md allows, but few days: the answers of each are compared. */
export function expensiveRecords(festival: Festival, random: Random): TestRecord[] {
  const days = numbers(6)
  const event = (version: number, timeZone: string) =>
    festival.event({
      version,
      timeZone,
      days: days.map(dayId => ({
        dayId,
        date: `2026-09-0${dayId}`,
        openedAt: `2026-09-0${dayId}T08:00:00Z`,
        closedAt: dayId === days.length ? null : `2026-09-0${dayId}T23:00:00Z`,
      })),
      menuItems: numbers(2_000).map(menuItemId => ({
        menuItemId,
        name: `Item ${menuItemId} ${'x'.repeat(150)}`,
        categoryName: '',
      })),
    })
  const first = random.whole(1, 1_500)
  const lines = numbers(500).map(line => ({ menuItemId: first + line, quantity: 20, unitPrice: 2 }))
  const orders = numbers(30).map(number =>
    festival.order({
      dayId: 1 + (number % days.length),
      orderDateTime: `2026-09-0${1 + (number % days.length)}T${10 + (number % 12)}:30:00Z`,
      totalAmount: 20_000,
      items: lines.map(line => ({ ...line, itemName: `Item ${line.menuItemId}`, note: null })),
    }),
  )
  const { orderId } = random.of(orders).value
  const refunds = numbers(200).map(() =>
    festival.refund({
      orderId,
      amount: 25,
      lines: lines.map(({ menuItemId }) => ({ menuItemId, quantity: 1, amount: 0.05 })),
    }),
  )
  return [event(1, 'Europe/Rome'), ...orders, ...refunds, event(2, 'Asia/Tokyo')]
}
