import { openDeadLetters } from '@tally/dead-letters'
import { projectBatch } from '@tally/projection'
import { batchOf, shard, topics } from '@tally/testkit/projection/harness'
import { test } from '@tally/testkit/projection/projectionTest'
import { anEvent, anOrder, aRefund, newEventId, newOrganizationId } from '@tally/testkit/records/records'
import { sql } from 'kysely'
import { expect } from 'vitest'

test('a bad record becomes a dead letter unchanged, and the records around it are applied', async ({
  harness,
  eventId,
  at,
}) => {
  const bad = { ...anOrder({ eventId, status: 'Secret name' }) }
  const projected = await at.orders(0, anOrder({ eventId }), bad, anOrder({ eventId, orderId: 'A-3' }))
  expect(projected).toMatchObject({ next: 3, effects: { counts: { applied: 2 }, rejected: [{ offset: 1 }] } })
  expect(harness.deadLetters).toEqual([
    {
      topic: 't.dead-letters',
      key: Buffer.from(eventId),
      value: Buffer.from(JSON.stringify(bad)),
      headers: {
        'tally.reason': 'schema',
        '__connect.errors.topic': topics.orders,
        '__connect.errors.partition': String(shard),
        '__connect.errors.offset': '1',
        '__connect.errors.exception.message': expect.stringMatching(/^status: /),
      },
      acceptedMs: 0,
    },
  ])
  expect(await at.figures()).toEqual({ orders: 2, sales: 34, sold: 4 })
})

test('a batch whose dead letters cannot be sent is rolled back whole', async ({ harness, eventId, at }) => {
  const producer = { send: () => Promise.reject(new Error('Kafka is down')) }
  const deps = { ...harness.deps, deadLetters: openDeadLetters(producer, 't.dead-letters') }
  const batch = batchOf(topics.orders, 0, [anOrder({ eventId }), Buffer.from('{')])
  await expect(projectBatch(deps, 'orders', batch)).rejects.toThrow('Kafka is down')
  expect(await at.stored()).toMatchObject({ nextOffset: 0 })
  expect(await at.figures()).toBeNull()
})

test('a batch that failed in Postgres is retried without a second dead letter', async ({
  harness,
  eventId,
  at,
}) => {
  const records = [Buffer.from('{'), anOrder({ eventId }), Buffer.from('[')]
  await sql`alter table orders add constraint full_disk check (false) not valid`.execute(harness.db)
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(at.orders(0, ...records)).rejects.toThrow('full_disk')
  await sql`alter table orders drop constraint full_disk`.execute(harness.db)
  expect(await at.orders(0, ...records)).toMatchObject({ next: 3 })
  expect(harness.deadLetters.map(({ headers }) => headers?.['__connect.errors.offset'])).toEqual(['0', '2'])
})

test('a slice that was committed keeps the dead letters of the next one', async ({ harness, eventId }) => {
  const committed = batchOf(topics.orders, 0, [Buffer.from('{')])
  const next = batchOf(topics.orders, 1, [Buffer.from('['), anOrder({ eventId })])
  await projectBatch(harness.deps, 'orders', committed)
  await sql`alter table orders add constraint full_disk check (false) not valid`.execute(harness.db)
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(await projectBatch(harness.deps, 'orders', committed)).toMatchObject({
      next: 1,
      effects: undefined,
    })
    await expect(projectBatch(harness.deps, 'orders', next)).rejects.toThrow('full_disk')
  }
  await sql`alter table orders drop constraint full_disk`.execute(harness.db)
  await projectBatch(harness.deps, 'orders', next)
  expect(harness.deadLetters.map(({ headers }) => headers?.['__connect.errors.offset'])).toEqual(['0', '1'])
})

test('a retried batch of events sends neither its bad records nor its conflicts twice', async ({
  harness,
  eventId,
  at,
}) => {
  const [own, other] = [newEventId(), newEventId()]
  const records = [
    {},
    anEvent({ eventId, organizationId: own }),
    anEvent({ eventId, organizationId: other, version: 2 }),
  ]
  await sql`alter table events add constraint full_disk check (false) not valid`.execute(harness.db)
  await expect(at.events(0, ...records)).rejects.toThrow('full_disk')
  await sql`alter table events drop constraint full_disk`.execute(harness.db)
  await sql`alter table shard_offsets add constraint full_disk check (next_offset < 1) not valid`.execute(
    harness.db,
  )
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(at.events(0, ...records)).rejects.toThrow('full_disk')
  await sql`alter table shard_offsets drop constraint full_disk`.execute(harness.db)
  await at.events(0, ...records)
  const offsets = harness.deadLetters.map(({ headers }) => headers?.['__connect.errors.offset'])
  expect(offsets.sort()).toEqual(['0', '2'])
})

test('a dead letter that is still being sent is awaited, not sent again', async ({ harness, eventId }) => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  let sends = 0
  const producer = {
    send: () => {
      sends++
      return arrived
    },
  }
  const deps = { ...harness.deps, deadLetters: openDeadLetters(producer, 't.dead-letters') }
  const batch = batchOf(topics.orders, 0, [anOrder({ eventId }), Buffer.from('{')])
  await sql`alter table orders add constraint full_disk check (false) not valid`.execute(harness.db)
  await expect(projectBatch(deps, 'orders', batch)).rejects.toThrow('full_disk')
  await sql`alter table orders drop constraint full_disk`.execute(harness.db)
  const again = projectBatch(deps, 'orders', batch)
  arrive()
  expect(await again).toMatchObject({ next: 2 })
  expect(sends).toBe(1)
})

test('a record that moves an event to another organization is a conflict, whatever its version', async ({
  harness,
  eventId,
  at,
}) => {
  const [own, other] = [newEventId(), newEventId()]
  const { effects } = await at.events(
    0,
    anEvent({ eventId, organizationId: own, version: 5 }),
    anEvent({ eventId, organizationId: other, version: 6 }),
    anEvent({ eventId, organizationId: other, version: 1 }),
    anEvent({ eventId, organizationId: own, version: 4 }),
    anEvent({ eventId, organizationId: own, version: 7, name: 'New name' }),
  )
  expect(effects?.counts).toMatchObject({ applied: 2, duplicate: 1 })
  expect(
    harness.deadLetters.map(({ headers }) => [
      headers?.['tally.reason'],
      headers?.['__connect.errors.offset'],
    ]),
  ).toEqual([
    ['conflict', '1'],
    ['conflict', '2'],
  ])
})

test('the first good refund of an id wins, and a rejected one leaves its id free', async ({
  eventId,
  at,
}) => {
  await at.orders(0, anOrder({ eventId }))
  const { effects } = await at.refunds(
    0,
    aRefund({ eventId, amount: -1 }),
    aRefund({ eventId }),
    aRefund({ eventId, amount: 1, lines: [] }),
  )
  expect(effects?.counts).toEqual({ applied: 1, parked: 0, duplicate: 1, ignored: 0 })
  await at.refunds(3, aRefund({ eventId, amount: 2, lines: [] }))
  expect(await at.figures()).toEqual({ orders: 1, sales: 8.5, sold: 1 })
})

test('a refund that arrives before its order waits for it', async ({ eventId, at }) => {
  expect((await at.refunds(0, aRefund({ eventId }))).effects?.counts).toEqual({
    applied: 0,
    parked: 1,
    duplicate: 0,
    ignored: 0,
  })
  expect(await at.figures()).toBeNull()
  await at.orders(0, anOrder({ eventId }))
  expect(await at.figures()).toEqual({ orders: 1, sales: 8.5, sold: 1 })
})

test('orders that arrive before their event move to the hours of its time zone', async ({ eventId, at }) => {
  await at.orders(0, anOrder({ eventId }))
  await at.events(0, anEvent({ eventId, organizationId: newOrganizationId() }))
  expect(await at.hours()).toMatchObject([{ hour: 21 }])
})

test('what the schema does not name reaches no table', async ({ harness, eventId, at }) => {
  const order = anOrder({ eventId, customerName: 'MARKER', items: [] })
  await at.orders(0, { ...order, extra: { email: 'MARKER@example.org' } } as typeof order)
  const rows = await harness.db.selectFrom('orders').selectAll().where('event_id', '=', eventId).execute()
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain('MARKER')
})
