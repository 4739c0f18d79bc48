import type { EventId } from '@tally/contract'
import { composeDocuments } from '@tally/figures'
import { ensureOffsets } from '@tally/offsets'
import { projectBatch } from '@tally/projection'
import { batchOf, type Harness, openHarness, shard, topics } from '@tally/testkit/projection/harness'
import { randomFrom } from '@tally/testkit/random'
import { anEvent, anOrder, newEventId } from '@tally/testkit/records/records'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPublisher } from './publisher.ts'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
  for (const topic of Object.values(topics)) await ensureOffsets(harness.db, topic, [shard])
})
afterAll(() => harness.close())

const next = { events: 0, orders: 0 }

test.each([1, 2, 3])(
  'differences add up to what Postgres has after each of 60 flushes (seed %i)',
  async seed => {
    const { whole } = randomFrom(seed, 'orders')
    const random = (below: number) => whole(0, below - 1)
    const publisher = createPublisher(harness)
    const eventId = newEventId()
    const put = async (type: 'events' | 'orders', ...values: Record<string, unknown>[]) => {
      const batch = batchOf(topics[type], next[type], values)
      next[type] += values.length
      const { effects } = await projectBatch(harness.deps, type, batch)
      if (effects === undefined) throw new Error('the batch does not follow the one before')
      publisher.add({ topic: topics[type], partition: shard }, effects)
    }
    // Few items are sold by few orders, which are often cancelled: items come and go.
    const few = () => Array.from({ length: 1 + random(3) }, () => 4 * random(8))
    const many = () => Array.from({ length: 40 }, (_, index) => 100 + 4 * index)
    const anyOrder = () => {
      const number = random(12)
      return anOrder({
        eventId,
        orderId: `O-${number}`,
        version: next.orders + 1,
        areaId: 1 + random(2),
        status: random(3) === 0 ? 'Cancelled' : 'Paid',
        items: (number < 4 ? many() : few()).map(menuItemId => ({
          menuItemId,
          itemName: 'x',
          quantity: 1 + random(3),
          unitPrice: 1,
        })),
      })
    }
    await put('events', anEvent({ eventId }))
    for (let flush = 0; flush < 60; flush++) {
      for (let batches = random(3); batches >= 0; batches--) await put('orders', anyOrder())
      await publisher.flush()
      const composed = await composeDocuments(harness.db, { events: [eventId as EventId] })
      const documents = Object.entries(await harness.readEvent(eventId)).filter(([name]) =>
        name.includes(':'),
      )
      expect(Object.fromEntries(documents)).toEqual(
        Object.fromEntries(composed.get(eventId as EventId) ?? []),
      )
    }
  },
)
