import { randomUUID } from 'node:crypto'
import type { EventId } from '@tally/contract'
import { anEvent } from '@tally/testkit/records/decoded'
import { databaseOfFile, untilLocked } from '@tally/testkit/servers/database'
import { expect, test } from 'vitest'
import { lockEvents, readKnownEvents, stampEvents, storeEvents } from './writer.ts'

const database = await databaseOfFile()

const event = anEvent()
const { eventId, organizationId } = event

test('a batch that waited for another one sees the event that the other one wrote', async () => {
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

test('an event is scattered once a record of it came through another shard', async () => {
  const id = randomUUID() as EventId
  const stamped = (shard: number, revision: number) =>
    database.db.transaction().execute(async tx => {
      await lockEvents(tx, new Map([[id, shard]]))
      await stampEvents(tx, [id], shard, revision)
      return (await lockEvents(tx, new Map([[id, shard]]))).get(id)
    })
  expect(await stamped(2, 1)).toMatchObject({ shard: 2, isScattered: false, revision: 1 })
  expect(await stamped(3, 2)).toMatchObject({ shard: 2, isScattered: true, revision: 2 })
  expect(await stamped(2, 3)).toMatchObject({ shard: 2, isScattered: true, revision: 3 })
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
