import type { EventId } from '@tally/contract'
import { allAreas, type LockedEvent, noAreaChanges } from '@tally/figures'
import type { Tx } from '@tally/platform'
import { EventRoom, type ProjectorDeps, projectBatch } from '@tally/projection'
import { batchOf, type Harness, topics } from '@tally/testkit/projection/harness'
import { test as base } from '@tally/testkit/projection/projectionTest'
import { anOrder, aRefund, newEventId } from '@tally/testkit/records/records'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect } from 'vitest'

const small = { rows: 100, items: 3, timeBuckets: 2, paymentMethods: 2 }

const lines = (...ids: number[]) =>
  ids.map(menuItemId => ({ menuItemId, itemName: 'Burger', quantity: 1, unitPrice: 1 }))

/** Projects batches of orders of one event one after the other, with these limits. */
function openProjector(harness: Harness, limits: Partial<typeof small>) {
  const deps = { ...harness.deps, room: new EventRoom({ ...small, ...limits }) }
  let next = 0
  let orders = 0
  return async (...fields: Record<string, unknown>[]) => {
    const values = fields.map(some => anOrder({ orderId: `A-${++orders}`, ...some }))
    const { effects } = await projectBatch(deps, 'orders', batchOf(topics.orders, next, values))
    next += values.length
    return effects?.rejected.map(({ rejected: { reason, message } }) => `${reason}: ${message}`) ?? []
  }
}

const test = base.extend('project', ({ harness }) => openProjector(harness, {}))

test('an order with a menu item too many is a dead letter', async ({ harness, project, eventId, at }) => {
  expect(await project({ eventId, items: lines(10, 2_000_000) }, { eventId, items: lines(10, 30) })).toEqual(
    [],
  )
  expect(
    await project({ eventId, items: lines(10, 40) }, { eventId, items: lines(30) }, { eventId, dayId: 42 }),
  ).toEqual([
    'too-many: with this order the event would have more than 3 menu items on its day. Check the ids, times and payment methods that the till sends',
  ])
  expect(await at.figures()).toMatchObject({ orders: 3, sold: 5 })
  expect(harness.deadLetters.map(({ headers }) => headers?.['tally.reason'])).toEqual(['too-many'])
})

test('changes and refunds need no room for what is counted already', async ({ project, eventId, at }) => {
  expect(await project({ eventId, orderId: 'X', items: lines(1, 2, 3) })).toEqual([])
  expect(
    await project({ eventId, orderId: 'X', version: 2, items: lines(3) }, { eventId, items: lines(3) }),
  ).toEqual([])
  await at.refunds(0, aRefund({ eventId, orderId: 'X', amount: 1, lines: null }))
  // Items 1 and 2 have no order any more: there is room for two others.
  const sold = [lines(4, 5), lines(5), lines(6)]
  expect(await project(...sold.map(items => ({ eventId, items })))).toHaveLength(1)
})

test('a rejected version changes nothing and is judged again if resent', async ({ project, eventId, at }) => {
  await project({ eventId, orderId: 'X', items: lines(1, 2, 3) })
  expect(await project({ eventId, orderId: 'X', version: 2, items: lines(1, 4) })).toHaveLength(1)
  expect(await at.figures()).toMatchObject({ orders: 1, sold: 3 })
  expect(await project({ eventId, orderId: 'X', version: 2, items: lines(1, 2) })).toEqual([])
  expect(await at.figures()).toMatchObject({ orders: 1, sold: 2 })
})

test('the quarter hours are limited for each day by itself', async ({ project, eventId }) => {
  const at = (minute: number) => ({ eventId, orderDateTime: new Date(minute * 60_000).toISOString() })
  const start = 30_000_000
  expect(await project(at(start), at(start + 15), at(start + 29))).toEqual([])
  expect(await project({ ...at(start + 30), dayId: 42 }, { ...at(start + 45), status: 'Pending' })).toEqual(
    [],
  )
  expect(await project(at(start + 30))).toEqual([expect.stringContaining('2 quarter hours on its day')])
})

test('the payment methods are limited for each day by itself', async ({ project, eventId }) => {
  const paid = (paymentMethod: string, fields: object = {}) => ({ eventId, paymentMethod, ...fields })
  expect(
    await project(paid('Cash', { orderId: 'X' }), paid(''), paid('Card', { status: 'Pending' })),
  ).toEqual([])
  expect(
    await project(paid('Card'), paid('cash', { dayId: 42 }), paid(''), paid('Cash', { areaId: 2 })),
  ).toEqual([expect.stringContaining('2 payment methods on its day.')])
  expect(await project(paid('Cash', { orderId: 'X', version: 2, status: 'Cancelled' }))).toEqual([])
  expect(await project(paid('Voucher'))).toHaveLength(1)
  // The other order of the method is in area 2.
  expect(await project(paid('Cash', { orderId: 'A-7', areaId: 2, version: 2, status: 'Cancelled' }))).toEqual(
    [],
  )
  expect(await project(paid('Voucher'))).toEqual([])
})

test('the combinations of day, area, item and payment method are limited', async ({ harness, eventId }) => {
  const project = openProjector(harness, { rows: 17 })
  // A day with one area, item and payment method has six: these two and the orders, of the area and of all areas.
  const days = (...ids: number[]) => ids.map(dayId => ({ eventId, dayId }))
  expect(await project(...days(1, 2, 3))).toEqual([
    expect.stringContaining('17 combinations of day, area, menu items and payment methods'),
  ])
  const pending = (areaId: number) => project({ eventId, dayId: 1, areaId, status: 'Pending' })
  for (const areaId of [5, 6, 7, 8, 9]) expect(await pending(areaId)).toEqual([])
  expect(await pending(10)).toHaveLength(1)
  // Of one order: also the versions that the last one replaces need no room for what is there.
  const versions = days(1, 2, 9).map((day, n) => ({ ...day, orderId: 'X', version: n + 1 }))
  expect(await project(...versions)).toHaveLength(1)
})

test('a full event is counted again only after another writer', async ({ harness, project, eventId }) => {
  await project({ eventId, items: lines(1, 2, 3) })
  expect(await project({ eventId, items: lines(4) })).toHaveLength(1)
  // Counters are never written without a new revision: a count would find room now.
  await sql`delete from item_counters where event_id = ${eventId}`.execute(harness.db)
  expect(await project({ eventId, items: lines(4) }, { eventId, items: [] })).toHaveLength(1)
  expect(await project({ eventId, items: lines(4) })).toHaveLength(1)
  await sql`update event_heads set revision = nextval('revisions') where event_id = ${eventId}`.execute(
    harness.db,
  )
  expect(await project({ eventId, items: lines(4) })).toEqual([])
})

test('an event stays full if its process forgets counts', async ({ harness, project, eventId }) => {
  await project({ eventId, items: lines(1, 2, 3) })
  const area = noAreaChanges()
  area.items.set(4, {} as never)
  const room = new EventRoom(small, 0)
  const reserve = (id: EventId) => {
    const locked = new Map([[id, { revision: 0 } as LockedEvent]])
    const changes = new Map([[id, new Map([[41, new Map([[allAreas, area]])]])]])
    return room.reserve(harness.db as unknown as Tx, locked, changes)
  }
  // The second forgets what the first is counting.
  const near = await Promise.all([reserve(eventId), reserve(newEventId())])
  expect(near).toEqual([new Set([eventId]), new Set()])
})

test('an event near one of its limits still has all the room of the others', async ({ harness, eventId }) => {
  const project = openProjector(harness, { rows: 13 })
  const one = { eventId, areaId: 1, items: lines(1) }
  expect([await project(one), await project(one)]).toEqual([[], []])
  // It has 6 rows and may need 9: near. Each batch has taken room for item 1, so that this was the last for far events.
  expect(await project({ ...one, items: lines(2) }, { ...one, areaId: 2, items: lines(2) })).toEqual([])
  expect(await project({ ...one, items: lines(3) })).toEqual([])
})

test('a version replaced in its batch counts if the next is rejected', async ({ project, eventId, at }) => {
  const versions = [
    { eventId, orderId: 'X', version: 1, items: lines(1) },
    { eventId, orderId: 'X', version: 2, dayId: 42, items: lines(1, 2, 3, 4) },
  ]
  expect(await project(...versions)).toHaveLength(1)
  expect(await at.figures()).toMatchObject({ orders: 1, sold: 1 })
})

const limits = { rows: 12, items: 4, timeBuckets: 2, paymentMethods: 2 }

const orderIds = fc.constantFrom('A', 'B', 'C', 'D')
const someOrder = fc.record({
  orderId: orderIds,
  dayId: fc.constantFrom(41, 42),
  areaId: fc.constantFrom(1, 2),
  status: fc.constantFrom('Paid', 'Paid', 'Cancelled'),
  paymentMethod: fc.constantFrom('Cash', 'Cash', 'Card', ''),
  orderDateTime: fc.constantFrom('2026-09-04T20:00:00Z', '2026-09-04T20:15:00Z', '2026-09-04T20:30:00Z'),
  items: fc.uniqueArray(fc.constantFrom(1, 2, 17, 40, 41), { minLength: 1 }).map(ids => lines(...ids)),
})
const seldom = fc.constantFrom(true, ...Array<boolean>(7).fill(false))
const someBatch = fc.record({
  orders: fc.array(someOrder, { minLength: 1, maxLength: 3 }),
  refunded: fc.option(orderIds, { nil: undefined }),
  /** Another process applies the batch. */
  isOther: seldom,
  /** The first attempt fails at its end. */
  isLost: seldom,
})
type Batch = typeof someBatch extends fc.Arbitrary<infer Value> ? Value : never

test('what a process remembers decides nothing: not after a failure, nor after another writer', async ({
  harness,
}) => {
  const next = { orders: 0, refunds: 0 }
  const project = async (deps: ProjectorDeps, type: 'orders' | 'refunds', values: object[]) => {
    const { effects } = await projectBatch(deps, type, batchOf(topics[type], next[type], values))
    next[type] += values.length
    return effects?.rejected.map(({ rejected }) => rejected.message)
  }
  const verify = () => {
    throw new Error('the connection is lost')
  }
  let applied = 0

  /** Projects a batch of an event with this room. */
  async function step(eventId: EventId, room: EventRoom, { orders, refunded, isLost }: Batch) {
    const deps = { ...harness.deps, room }
    const records = orders.map((order, index) =>
      anOrder({ ...order, eventId, version: applied * 10 + index }),
    )
    if (refunded !== undefined)
      await project(deps, 'refunds', [aRefund({ eventId, orderId: refunded, version: applied, amount: 1 })])
    if (isLost) await expect(project({ ...deps, verify }, 'orders', records)).rejects.toThrow('lost')
    return project(deps, 'orders', records)
  }

  await fc.assert(
    fc.asyncProperty(
      fc.array(someBatch, { minLength: 4, maxLength: 10, size: 'max' }),
      fc.constantFrom(6, 1_000),
      async (batches, most) => {
        const [room, one, other] = [new EventRoom(limits, most), newEventId(), newEventId()]
        for (const batch of batches) {
          applied += 1
          const remembered = await step(one, batch.isOther ? new EventRoom(limits) : room, batch)
          expect(remembered).toEqual(await step(other, new EventRoom(limits), batch))
        }
      },
    ),
    { numRuns: 8 },
  )
})
