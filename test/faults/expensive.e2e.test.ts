import { useTally } from '@tally/testkit/processes/tally'
import { newFestival, saturday } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { beforeAll, expect, test } from 'vitest'
import { memoryOf } from '../bench/tally/memoryOf.ts'

/** docs/reliability.md, Records: the most expensive records that docs/records.md allows. */
const tally = useTally({ partitions: 1 })
const festival = newFestival()
let token: string

const list = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, i) => make(i))
const lines = 500
const day = (index: number) => ({
  dayId: 1000 + index,
  date: new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10),
  openedAt: '2026-01-01T10:00:00Z',
  closedAt: '2026-01-01T23:00:00Z',
})
const largeEvent = (version: number) =>
  festival.event({
    version,
    days: [{ ...day(-1), dayId: saturday, closedAt: null }, ...list(999, day)],
    menuItems: list(2000, i => ({ menuItemId: i + 1, name: 'n'.repeat(200), categoryName: 'c'.repeat(200) })),
  })
const largeOrder = (orderId: string) =>
  festival.order({
    orderId,
    totalAmount: 500,
    items: list(lines, i => ({ menuItemId: i + 1, itemName: `Item ${i}`, quantity: 1, unitPrice: 1 })),
  })
/** Refunds 500 items of the order, or, with another first item, 500 that it does not have. */
const largeRefund = (orderId: string, index: number, first = 1) =>
  festival.refund({
    orderId,
    refundId: `R-${orderId}-${index}`,
    amount: 1,
    lines: list(lines, i => ({ menuItemId: first + i, quantity: 1, amount: 0 })),
  })

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event()])
  token = await tally.key(festival.organizationId)
})

test('the largest events, orders and refunds count, and the projector neither ends, nor loses its partition, nor takes 1 GiB', async () => {
  const count = 100
  const ids = list(count, i => `L-${i}`)
  for (const version of list(10, i => i + 2)) await tally.produce([largeEvent(version)])
  for (const id of ids) await tally.produce([largeOrder(id)])
  await tally.produce(list(200, i => largeRefund('L-0', i, 1 + i * lines)))
  for (const id of ids) await tally.produce([largeRefund(id, 200)])
  const kpis = async () => (await tally.get(`${festival.path}/analytics/kpis`, { token })).body.data
  await until('all is counted', async () => (await kpis())?.totalSales === count * 500 - count - 200, 240_000)
  // One refund returns all lines of its order.
  expect(await kpis()).toMatchObject({ totalOrders: count, totalItemsSold: 0 })
  const log = tally.projectors[0]?.log() ?? ''
  expect(log.match(/joined the consumer group/g)).toHaveLength(1)
  expect(log).not.toContain('"level":50')
  expect(memoryOf(tally.projectors[0]?.pid ?? 0).peak).toBeLessThan(1024)
}, 300_000)
