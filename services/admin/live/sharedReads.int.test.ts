import type { EventId } from '@tally/contract'
import { noStatuses } from '@tally/figures'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { newEvent, newOffice, useFixture } from '../test/fixture.ts'
import { openLiveHub } from './hub.ts'
import { createStatusReader } from './reader.ts'

const fixture = useFixture()

/** Events with one open day, 41. */
async function newEvents(count: number): Promise<EventId[]> {
  const { organizationId } = await newOffice(fixture)
  const events: EventId[] = []
  while (events.length < count) {
    const eventId = await newEvent(fixture, organizationId)
    await fixture.db.insertInto('event_heads').values({ event_id: eventId, shard: 0, revision: 1 }).execute()
    events.push(eventId)
  }
  return events
}

test('days whose screens were opened one after the other are looked at together', async ({ skip }) => {
  skip(fixture.deps.redis.isCluster, 'in a cluster, each hash is a command of its own')
  const events = await newEvents(5)
  let most = 0
  const redis = new Proxy(fixture.deps.redis, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name !== 'readVersions') return typeof value === 'function' ? value.bind(target) : value
      return (hashes: number, ...args: (string | number)[]) => {
        // One of them is the shard's.
        most = Math.max(most, hashes - 1)
        return target.readVersions(hashes, ...args)
      }
    },
  })
  const live = openLiveHub({ ...fixture.deps, redis, topics: [`${fixture.deps.topicPrefix}.events`] })
  const ends: (() => void)[] = []
  for (const eventId of events) {
    const shown = vi.fn()
    ends.push(live.watch({ eventId, dayId: 41 }, { onDay: shown, onBeat: () => {} }))
    await until('it is shown', () => shown.mock.calls.length > 0)
  }
  await until('all are read in one command', () => most === events.length)
  for (const end of ends) end()
  await live.close()
})

test('orders by status of days that change together, or of areas, are read in one query, in their order', async () => {
  const [unsold, sold] = (await newEvents(2)) as [EventId, EventId]
  await sql`
insert into daily_counters
values (${sold}, 41, 0, 1, 2, 3, 4, 5, 6, 7, 0, 0), (${sold}, 41, 1, 1, 2, 99, 4, 5, 6, 7, 0, 0),
  (${sold}, 42, 0, 1, 2, 99, 4, 5, 6, 7, 0, 0)`.execute(fixture.db)
  const reading = vi.spyOn(fixture.db, 'getExecutor')
  const statusesOf = createStatusReader(fixture.db)
  const days = [unsold, sold, unsold].map(eventId => statusesOf({ eventId, dayId: 41 }))
  const read = await Promise.all([...days, statusesOf({ eventId: sold, dayId: 41, areaId: 1 })])
  const ofSold = {
    PreOrder: 1,
    Pending: 2,
    Paid: 3,
    Preparing: 4,
    ReadyForPickup: 5,
    Completed: 6,
    Cancelled: 7,
  }
  expect(read).toEqual([noStatuses(), ofSold, noStatuses(), { ...ofSold, Paid: 99 }])
  expect(reading).toHaveBeenCalledTimes(1)
  reading.mockRestore()
})
