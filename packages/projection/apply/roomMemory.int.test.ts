import type { EventId } from '@tally/contract'
import { EventRoom, type ProjectorDeps, projectBatch } from '@tally/projection'
import { batchOf, topics } from '@tally/testkit/projection/harness'
import { test } from '@tally/testkit/projection/projectionTest'
import { anOrder, aRefund, newEventId } from '@tally/testkit/records/records'
import fc from 'fast-check'
import { expect } from 'vitest'

const limits = { rows: 12, items: 4, timeBuckets: 2, paymentMethods: 2 }

const lines = (ids: number[]) =>
  ids.map(menuItemId => ({ menuItemId, itemName: 'Burger', quantity: 1, unitPrice: 1 }))

const orderIds = fc.constantFrom('A', 'B', 'C', 'D')
const someOrder = fc.record({
  orderId: orderIds,
  dayId: fc.constantFrom(41, 42),
  areaId: fc.constantFrom(1, 2),
  status: fc.constantFrom('Paid', 'Paid', 'Cancelled'),
  paymentMethod: fc.constantFrom('Cash', 'Cash', 'Card', ''),
  orderDateTime: fc.constantFrom('2026-09-04T20:00:00Z', '2026-09-04T20:15:00Z', '2026-09-04T20:30:00Z'),
  items: fc.uniqueArray(fc.constantFrom(1, 2, 17, 40, 41), { minLength: 1 }).map(lines),
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
