import { orderStatuses } from '@tally/contract'
import { hourIn } from '@tally/core'
import { rehour } from '@tally/read-models'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { countNewOrders } from '../testing/count.ts'
import { anOrder, newEventId } from '../testing/stage.ts'
import { readHourly } from './reader.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

const quarterMs = 15 * 60_000

/** Orders of two days, a quarter of an hour apart, over the change of the clock that each zone has in October 2026. */
function ordersOf(eventId: string) {
  return Array.from({ length: 160 }, (_, i) =>
    anOrder({
      eventId,
      orderId: `A-${i}`,
      status: orderStatuses[i % 7],
      dayId: 41 + (i % 2),
      areaId: 1 + (i % 3),
      totalAmount: i / 4,
      orderDateTime: new Date(Date.parse('2026-10-24T14:00:00.500Z') + i * quarterMs).toISOString(),
    }),
  )
}

async function hoursOf(eventId: ReturnType<typeof newEventId>) {
  const rows = await readHourly(database.db, { events: [eventId] })
  return rows
    .map(
      ({ day_id, area_id, hour, orders, salesCents }) =>
        `${day_id}/${area_id}/${hour}: ${orders} ${salesCents}`,
    )
    .sort()
}

test.each(['Asia/Kathmandu', 'Europe/Rome', 'Pacific/Chatham', 'Africa/Monrovia', 'UTC'])(
  'hours counted again for %s are those counted in it from the start',
  async timeZone => {
    const [moved, fromStart] = [newEventId(), newEventId()]
    await countNewOrders(database.db, ordersOf(moved), { timeZone: 'America/St_Johns' })
    await countNewOrders(database.db, ordersOf(fromStart), { timeZone })
    await database.db.transaction().execute(tx => rehour(tx, moved, hourIn(timeZone)))
    expect(await hoursOf(moved)).toEqual(await hoursOf(fromStart))
    expect(await hoursOf(moved)).not.toEqual([])
  },
)

test('an event without orders has no hours', async () => {
  const eventId = newEventId()
  await database.db.transaction().execute(tx => rehour(tx, eventId, hourIn('Europe/Rome')))
  expect(await hoursOf(eventId)).toEqual([])
})
