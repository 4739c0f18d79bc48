import { randomUUID } from 'node:crypto'
import { decodeRecord, type Event, type EventId, type OrganizationId } from '@tally/contract'
import { databaseOfFile, untilLocked } from '@tally/testkit/servers/database'
import { expect, test } from 'vitest'
import { lockEvents, readKnownEvents, storeEvents } from './writer.ts'

const database = await databaseOfFile()

const eventId = '7c1e0000-0000-4000-8000-000000000001' as EventId
const organizationId = '0b5a0000-0000-4000-8000-000000000001' as OrganizationId

const festival = {
  eventId,
  organizationId,
  version: 1,
  name: 'Sagra del Pesce',
  startDate: '2026-09-04T16:00:00Z',
  timeZone: 'Europe/Rome',
  areas: [],
  days: [],
  menuItems: [],
}

test('a batch that waited for another one sees the event that the other one wrote', async () => {
  const decoded = decodeRecord('events', Buffer.from(eventId), Buffer.from(JSON.stringify(festival)))
  const event = (decoded as { value: Event }).value
  await database.db.transaction().execute(tx => lockEvents(tx, new Map([[eventId, 0]])))
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>()
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>()

  const first = database.db.transaction().execute(async tx => {
    await lockEvents(tx, new Map([[eventId, 0]]))
    await storeEvents(tx, [event])
    locked()
    await mayCommit
  })
  await isLocked
  const second = database.db.transaction().execute(async tx => {
    await lockEvents(tx, new Map([[eventId, 0]]))
    return readKnownEvents(tx, [eventId])
  })
  await untilLocked(database.db, 1)
  commit()
  await first

  expect((await second).get(eventId)).toEqual({ version: 1, organizationId, timeZone: 'Europe/Rome' })
})

test('concurrent batches of several topics with the same new events never deadlock', async () => {
  for (let round = 0; round < 6; round++) {
    const ids = Array.from({ length: 40 }, () => randomUUID() as EventId)
    const some = () => ids.filter(() => Math.random() < 0.4)
    const worker = async () => {
      for (let batch = 0; batch < 5; batch++)
        await database.db.transaction().execute(tx => lockEvents(tx, new Map(some().map(id => [id, 0]))))
    }
    await expect(Promise.all([worker(), worker(), worker()])).resolves.toHaveLength(3)
  }
})
