import type { EventId } from '@tally/contract'
import { readCounters } from '@tally/figures'
import { lockOffset } from '@tally/offsets'
import { batchOf, type Harness, shard, topics } from '@tally/testkit/projection/harness'
import { test } from '@tally/testkit/projection/projectionTest'
import { anEvent, anOrder, aRefund, burger, friday, newEventId } from '@tally/testkit/records/records'
import { untilLocked } from '@tally/testkit/servers/database'
import { expect } from 'vitest'
import { projectBatch } from './projectBatch.ts'

test('a batch is applied, and the next one begins after it', async ({ eventId, at }) => {
  const projected = await at.orders(0, anOrder({ eventId }), anOrder({ eventId, orderId: 'A-2' }))
  expect(projected).toMatchObject({ next: 2, effects: { counts: { applied: 2, parked: 0, duplicate: 0 } } })
  expect(await at.stored()).toMatchObject({ nextOffset: 2, revision: projected.effects?.revision })
  expect(await at.figures()).toEqual({ orders: 2, sales: 34, sold: 4 })
})

test('of several versions of an order in one batch the highest counts, and each that won counts as applied', async ({
  eventId,
  at,
}) => {
  await at.orders(0, anOrder({ eventId, version: 2 }))
  const versions = [1, 3, 5, 4, 5].map((version, n) => anOrder({ eventId, version, totalAmount: 10 + n }))
  const { effects } = await at.orders(1, ...versions, anOrder({ eventId, orderId: 'A-2' }))
  expect(effects?.counts).toMatchObject({ applied: 3, duplicate: 2 })
  expect(effects?.rejected).toMatchObject([{ offset: 5, rejected: { reason: 'contradiction' } }])
  expect(await at.figures()).toEqual({ orders: 2, sales: 12 + 17, sold: 4 })
})

/** Every character that is valid in an id; the test spreads them over two, because an id has at most 64. */
const validCharacters = String.fromCharCode(
  ...Array.from({ length: 0x7e - 0x20 }, (_, n) => 0x21 + n),
).replace('/', '')

test.for([validCharacters.slice(0, 47), validCharacters.slice(47), '{"a","b"}', 'null'])(
  'a stored order with the id %s is found by its next version and by its refund',
  async (orderId, { eventId, at }) => {
    await at.orders(0, anOrder({ eventId, orderId }), anOrder({ eventId, orderId: `${orderId[0]}` }))
    const { effects } = await at.orders(2, anOrder({ eventId, orderId, version: 2, totalAmount: 20 }))
    expect(effects?.counts).toMatchObject({ applied: 1, duplicate: 0 })
    const refunded = await at.refunds(0, aRefund({ eventId, orderId }))
    expect(refunded.effects?.counts).toMatchObject({ applied: 1, parked: 0 })
    expect(await at.figures()).toMatchObject({ orders: 2, sales: 17 + 20 - 8.5 })
  },
)

test('a batch applied before writes nothing and returns the stored offset', async ({ eventId, at }) => {
  await at.orders(0, anOrder({ eventId }))
  const before = await at.stored()
  expect(await at.orders(0, anOrder({ eventId, version: 9, totalAmount: 1 }))).toEqual({
    next: 1,
    effects: undefined,
  })
  expect(await at.stored()).toEqual(before)
  expect(await at.figures()).toEqual({ orders: 1, sales: 17, sold: 2 })
})

test('of a batch that begins below the stored offset, new records are applied', async ({ eventId, at }) => {
  await at.orders(0, anOrder({ eventId }))
  const already = anOrder({ eventId, version: 9, totalAmount: 1 })
  const projected = await at.orders(0, already, anOrder({ eventId, orderId: 'A-2' }))
  expect(projected).toMatchObject({ next: 2, effects: { counts: { applied: 1, duplicate: 0 } } })
  expect(await at.figures()).toEqual({ orders: 2, sales: 34, sold: 4 })
})

test('of a batch begun below the stored offset, new bad records are rejected', async ({ harness, at }) => {
  await at.orders(0, Buffer.from('{'))
  harness.deadLetters.length = 0
  await at.orders(0, Buffer.from('{'), Buffer.from('['))
  expect(harness.deadLetters.map(({ headers }) => headers?.['__connect.errors.offset'])).toEqual(['1'])
})

test('a batch after a gap writes nothing and seeks back to the stored offset', async ({ eventId, at }) => {
  await at.orders(0, anOrder({ eventId }))
  expect(await at.orders(5, anOrder({ eventId, orderId: 'A-5' }))).toEqual({ next: 1, effects: undefined })
  expect(await at.stored()).toMatchObject({ nextOffset: 1 })
  expect(await at.figures()).toEqual({ orders: 1, sales: 17, sold: 2 })
})

test('a batch without records moves the offset on and takes no revision', async ({ harness, at }) => {
  const batch = { ...batchOf(topics.orders, 0, []), next: 7 }
  expect(await projectBatch(harness.deps, 'orders', batch)).toMatchObject({
    next: 7,
    effects: { revision: undefined },
  })
  expect(await at.stored()).toMatchObject({ nextOffset: 7, revision: 0 })
})

test('two workers with the same batch at once apply it once', async ({ harness, eventId, at }) => {
  const values = Array.from({ length: 50 }, (_, i) => anOrder({ eventId, orderId: `A-${i}` }))
  const waiting = await harness.db.transaction().execute(async tx => {
    await lockOffset(tx, topics.orders, shard)
    const both = Promise.all([at.orders(0, ...values), at.orders(0, ...values)])
    await untilLocked(harness.db, 2)
    return { both }
  })
  const projected = await waiting.both
  expect(projected.map(({ next }) => next)).toEqual([50, 50])
  expect(projected.filter(({ effects }) => effects !== undefined)).toHaveLength(1)
  expect(await at.figures()).toEqual({ orders: 50, sales: 850, sold: 100 })
})

test('orders and refunds of one event at once, in batches of their own, add up', async ({ eventId, at }) => {
  const ids = Array.from({ length: 40 }, (_, i) => `A-${i}`)
  const records = ids.map(orderId => anOrder({ eventId, orderId }))
  const given = ids.map(orderId => aRefund({ eventId, orderId, refundId: `R-${orderId}` }))
  for (let from = 0; from < ids.length; from += 10)
    await Promise.all([
      at.orders(from, ...records.slice(from, from + 10)),
      at.refunds(from, ...given.slice(from, from + 10)),
    ])
  expect(await at.figures()).toEqual({ orders: 40, sales: 340, sold: 40 })
})

test('orders that arrive while the time zone changes are counted in the new one', async ({ eventId, at }) => {
  const organizationId = newEventId()
  // 19:31 UTC is 01:16 in Kathmandu and 21:31 in Rome.
  for (let round = 0; round < 20; round++) {
    const [timeZone, hour] = round % 2 === 0 ? ['Asia/Kathmandu', 1] : ['Europe/Rome', 21]
    const event = anEvent({ eventId, organizationId, version: round + 1, timeZone })
    await Promise.all([
      at.events(round, event),
      at.orders(round, anOrder({ eventId, orderId: `A-${round}` })),
    ])
    expect(await at.hours()).toEqual([
      { hour, orderCount: round + 1, revenue: 17 * (round + 1), currency: 'EUR' },
    ])
  }
})

/** The order buckets that count any order, as `19:30 day 41 area 1: 2 Paid`. */
async function bucketsOf(harness: Harness, eventId: string): Promise<string[]> {
  const counters = await readCounters(harness.db, eventId as EventId)
  const rows = [...counters].flatMap(([day, areas]) =>
    [...areas].flatMap(([area, { orderBuckets }]) =>
      [...orderBuckets].flatMap(([bucket, counts]) =>
        Object.entries(counts)
          .filter(([, count]) => count !== 0)
          .map(([status, count]) => {
            const time = new Date(bucket * 300_000).toISOString().slice(11, 16)
            return `${time} day ${day} area ${area}: ${count} ${status}`
          }),
      ),
    ),
  )
  return rows.sort()
}

test('an order leaves its bucket with its status, day, area and time; refunds touch none', async ({
  harness,
  eventId,
  at,
}) => {
  const order = (fields: Record<string, unknown>) => anOrder({ eventId, ...fields })
  await at.orders(0, order({}), order({ orderId: 'A-2', orderDateTime: '2026-09-04T19:34:59.999Z' }))
  expect(await bucketsOf(harness, eventId)).toEqual(['19:30 day 41 area 1: 2 Paid'])
  await at.refunds(0, aRefund({ eventId }))
  expect(await bucketsOf(harness, eventId)).toEqual(['19:30 day 41 area 1: 2 Paid'])
  await at.orders(2, order({ version: 2, status: 'Cancelled' }))
  expect(await bucketsOf(harness, eventId)).toEqual([
    '19:30 day 41 area 1: 1 Cancelled',
    '19:30 day 41 area 1: 1 Paid',
  ])
  const moved = { dayId: 42, areaId: 2, orderDateTime: '2026-09-04T19:35:00Z' }
  await at.orders(3, order({ ...moved, version: 3 }), order({ version: 2 }))
  expect(await bucketsOf(harness, eventId)).toEqual([
    '19:30 day 41 area 1: 1 Paid',
    '19:35 day 42 area 2: 1 Paid',
  ])
})

test('orders without refunds leave what was refunded of their items, and an order takes its own with it', async ({
  harness,
  eventId,
  at,
}) => {
  const soldAndRefunded = async () =>
    [...((await readCounters(harness.db, eventId as EventId)).get(friday)?.get(0)?.items ?? [])].map(
      ([, { quantity, refundedQuantity, refundedCents }]) => [quantity, refundedQuantity, refundedCents],
    )
  await at.orders(0, anOrder({ eventId }))
  await at.refunds(0, aRefund({ eventId }))
  await at.orders(1, anOrder({ eventId, orderId: 'A-2' }))
  expect(await soldAndRefunded()).toEqual([[4, 1, 850]])
  const cancelled = anOrder({ eventId, version: 2, status: 'Cancelled' })
  await at.orders(2, cancelled, anOrder({ eventId, orderId: 'A-3' }))
  expect(await soldAndRefunded()).toEqual([[4, 0, 0]])
  const other = { menuItemId: 1, itemName: 'Water', quantity: 1, unitPrice: 1 }
  await at.orders(4, anOrder({ eventId, version: 3 }), anOrder({ eventId, orderId: 'A-4', items: [other] }))
  expect(await soldAndRefunded()).toContainEqual([6, 1, 850])
  const lines = [{ menuItemId: burger, quantity: 1, amount: 0 }]
  await at.refunds(1, aRefund({ eventId, refundId: 'R-2', orderId: 'A-2', lines }))
  expect(await soldAndRefunded()).toContainEqual([6, 2, 850])
})

test('menu items whose ids lie far apart are counted, however many', async ({ harness, eventId, at }) => {
  const idOf = (order: number, line: number) => 1 + 40 * (order * 500 + line)
  const orders = Array.from({ length: 12 }, (_, order) =>
    anOrder({
      eventId,
      orderId: `A-${order}`,
      items: Array.from({ length: 500 }, (_, line) => ({
        menuItemId: idOf(order, line),
        itemName: 'Burger',
        quantity: 1 + (line % 3),
        unitPrice: 0.5,
      })),
    }),
  )
  await at.orders(0, ...orders)
  const counters = await readCounters(harness.db, eventId as EventId)
  const items = counters.get(friday)?.get(0)?.items ?? new Map()
  expect(items.size).toBe(6_000)
  // The rows of area 1 are written in two parts.
  expect(counters.get(friday)?.get(1)?.items).toEqual(items)
  const counted = { orders: 1, quantity: 2, grossCents: 100, refundedQuantity: 0, refundedCents: 0 }
  for (const order of [0, 11]) expect(items.get(idOf(order, 499))).toEqual(counted)
  expect([...items.values()].reduce((sum, { quantity }) => sum + quantity, 0)).toBe(
    (await at.figures())?.sold,
  )
})
