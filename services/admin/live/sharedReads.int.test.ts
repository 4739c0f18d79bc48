import { noStatuses } from '@tally/figures'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { useFixture } from '../test/fixture.ts'
import { newDay } from '../test/sell.ts'
import type { DayRef } from './day.ts'
import { openLiveHub } from './hub.ts'
import { createStatusReader } from './reader.ts'

const fixture = useFixture()

const newDays = (count: number) => Promise.all(Array.from({ length: count }, () => newDay(fixture)))

test('days whose screens were opened one after the other are looked at together', async ({ skip }) => {
  skip(fixture.deps.redis.isCluster, 'in a cluster, each hash is a command of its own')
  const days = await newDays(5)
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
  for (const day of days) {
    const shown = vi.fn()
    ends.push(live.watch(day, { onDay: shown, onBeat: () => {} }))
    await until('it is shown', () => shown.mock.calls.length > 0)
  }
  await until('all are read in one command', () => most === days.length)
  for (const end of ends) end()
  await live.close()
})

test('orders by status of days that change together, or of areas, are read in one query, in their order', async () => {
  const [unsold, sold] = (await newDays(2)) as [DayRef, DayRef]
  await sql`
insert into daily_counters
values (${sold.eventId}, 41, 0, 1, 2, 3, 4, 5, 6, 7, 0, 0), (${sold.eventId}, 41, 1, 1, 2, 99, 4, 5, 6, 7, 0, 0),
  (${sold.eventId}, 42, 0, 1, 2, 99, 4, 5, 6, 7, 0, 0)`.execute(fixture.db)
  const reading = vi.spyOn(fixture.db, 'getExecutor')
  const statusesOf = createStatusReader(fixture.db)
  const days = [unsold, sold, unsold].map(statusesOf)
  const read = await Promise.all([...days, statusesOf({ ...sold, areaId: 1 })])
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
