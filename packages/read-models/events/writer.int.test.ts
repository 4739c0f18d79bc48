import { lockEvents, nextRevision, type Postgres, stampEvents, storeEvents } from '@tally/read-models'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { anEvent, newEventId } from '../testing/stage.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

/** Stores an event as a batch does. */
function store(db: Postgres, event: ReturnType<typeof anEvent>): Promise<void> {
  return db.transaction().execute(async tx => {
    await lockEvents(tx, [event.eventId], 0)
    await storeEvents(tx, [event])
    await stampEvents(tx, [event.eventId], 0, await nextRevision(tx))
  })
}

const waitUntilOneWaits = () =>
  vi.waitFor(async () => {
    const { rows } = await sql<{ waiting: number }>`
select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      database.db,
    )
    expect(rows[0]?.waiting).toBe(1)
  })

test('an event that nothing is known of gets a head at revision 0, in UTC', async () => {
  const eventId = newEventId()
  const locked = await database.db.transaction().execute(tx => lockEvents(tx, [eventId], 3))
  expect(locked.get(eventId)).toEqual({ revision: 0, timeZone: 'UTC', known: undefined })
})

test('what is known of an event is its stored version, organization and time zone', async () => {
  const event = anEvent({ version: 4 })
  await store(database.db, event)
  const locked = await database.db.transaction().execute(tx => lockEvents(tx, [event.eventId], 0))
  expect(locked.get(event.eventId)).toMatchObject({
    timeZone: 'Europe/Rome',
    known: { version: 4, organizationId: event.organizationId },
  })
})

test('a batch that waited for an event sees all that the batch before it wrote', async () => {
  const event = anEvent({ timeZone: 'Europe/Rome' })
  await store(database.db, event)
  const { promise: isWaiting, resolve: goOn } = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  let revision = 0
  const first = database.db.transaction().execute(async tx => {
    await lockEvents(tx, [event.eventId], 0)
    held.resolve()
    await isWaiting
    await storeEvents(tx, [{ ...event, version: 2, timeZone: 'Asia/Kathmandu' }])
    revision = await nextRevision(tx)
    await stampEvents(tx, [event.eventId], 0, revision)
  })
  await held.promise
  const second = database.db.transaction().execute(tx => lockEvents(tx, [event.eventId], 0))
  await waitUntilOneWaits().finally(goOn)
  await first
  expect((await second).get(event.eventId)).toEqual({
    revision,
    timeZone: 'Asia/Kathmandu',
    known: { version: 2, organizationId: event.organizationId },
  })
})
