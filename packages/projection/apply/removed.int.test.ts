import { type EventId, eventId as eventIdOf } from '@tally/contract'
import { lockEvents, removeEvent } from '@tally/figures'
import { nextRevision } from '@tally/offsets'
import type { Postgres } from '@tally/platform'
import { batchOf, topics } from '@tally/testkit/projection/harness'
import { test } from '@tally/testkit/projection/projectionTest'
import { anEvent, anOrder, aRefund, newEventId } from '@tally/testkit/records/records'
import { untilLocked } from '@tally/testkit/servers/database'
import { expect } from 'vitest'
import { projectBatch } from '../projectBatch.ts'

const remove = (db: Postgres, eventId: EventId) =>
  db.transaction().execute(async tx => {
    await lockEvents(tx, new Map([[eventId, 3]]))
    await removeEvent(tx, { eventId, organizationId: null }, await nextRevision(tx))
  })

test('records of a removed event are ignored and counted; those of other events in the batch are applied', async ({
  harness,
  eventId,
  at,
}) => {
  await remove(harness.db, eventId)
  const other = newEventId()
  const batches = [
    await at.events(0, anEvent({ eventId }), anEvent({ eventId: other })),
    await at.orders(
      0,
      anOrder({ eventId }),
      anOrder({ eventId: other }),
      anOrder({ eventId, orderId: 'A-2' }),
    ),
    await at.refunds(0, aRefund({ eventId }), aRefund({ eventId: other })),
  ]
  expect(batches.map(({ effects }) => [effects?.counts, [...(effects?.events.keys() ?? [])]])).toEqual([
    [{ applied: 1, parked: 0, duplicate: 0, ignored: 1 }, [other]],
    [{ applied: 1, parked: 0, duplicate: 0, ignored: 2 }, [other]],
    [{ applied: 1, parked: 0, duplicate: 0, ignored: 1 }, [other]],
  ])
  expect(await at.figures()).toBeNull()
  expect(harness.deadLetters).toEqual([])
})

test('a batch of removed events moves the offset and takes no revision', async ({ harness, eventId, at }) => {
  await remove(harness.db, eventId)
  const projected = await at.orders(0, anOrder({ eventId }))
  expect(projected).toMatchObject({ next: 1, effects: { revision: undefined, counts: { ignored: 1 } } })
  expect(await at.stored()).toMatchObject({ nextOffset: 1, revision: 0 })
})

test("a batch that waits for an event's removal ignores its records", async ({ harness, eventId, at }) => {
  await at.orders(0, anOrder({ eventId }))
  const waiting = await harness.db.transaction().execute(async tx => {
    await lockEvents(tx, new Map([[eventId, 3]]))
    await removeEvent(tx, { eventId, organizationId: null }, await nextRevision(tx))
    const projecting = projectBatch(
      harness.deps,
      'orders',
      batchOf(topics.orders, 1, [anOrder({ eventId, orderId: 'A-2' })]),
    )
    await untilLocked(harness.db, 1)
    return { projecting }
  })
  expect(await waiting.projecting).toMatchObject({ effects: { counts: { applied: 0, ignored: 1 } } })
})

test('an event whose head was lost stays removed', async ({ harness, eventId, at }) => {
  await remove(harness.db, eventId)
  await harness.db.deleteFrom('event_heads').where('event_id', '=', eventIdOf.parse(eventId)).execute()
  expect(await at.events(0, anEvent({ eventId }))).toMatchObject({ effects: { counts: { ignored: 1 } } })
})
