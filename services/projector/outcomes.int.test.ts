import { createDeadLetters } from '@tally/dead-letters'
import { projectBatch } from '@tally/projection'
import { batchOf, type Harness, shard, topics } from '@tally/testkit/projection/harness'
import { test } from '@tally/testkit/projection/projectionTest'
import { anEvent, anOrder, aRefund, newEventId, newOrganizationId } from '@tally/testkit/records/records'
import { sql } from 'kysely'
import { expect, vi } from 'vitest'

/** Refuses what does not meet `check` in a table while `work` runs. */
async function whileFull({ db }: Harness, work: () => unknown, { table = 'orders', check = 'false' } = {}) {
  await sql.raw(`alter table ${table} add constraint full_disk check (${check}) not valid`).execute(db)
  await work()
  await sql.raw(`alter table ${table} drop constraint full_disk`).execute(db)
}
const offsetsAreFull = { table: 'shard_offsets', check: 'next_offset < 1' }

test('a bad record is a dead letter unchanged, those around it apply', async ({ harness, eventId, at }) => {
  const bad = { ...anOrder({ eventId, status: 'Secret name' }) }
  const projected = await at.orders(0, anOrder({ eventId }), bad, anOrder({ eventId, orderId: 'A-3' }))
  expect(projected).toMatchObject({ next: 3, effects: { counts: { applied: 2 }, rejected: [{ offset: 1 }] } })
  expect(harness.deadLetters).toEqual([
    {
      topic: 't.dead-letters',
      partition: 0,
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
  const send = vi.fn(async () => {}).mockRejectedValueOnce(new Error('Kafka is down'))
  const deps = { ...harness.deps, deadLetters: createDeadLetters({ send }, 't.dead-letters') }
  const batch = batchOf(topics.orders, 0, [anOrder({ eventId }), Buffer.from('{')])
  await expect(projectBatch(deps, 'orders', batch)).rejects.toThrow('Kafka is down')
  expect(await at.stored()).toMatchObject({ nextOffset: 0 })
  expect(await at.figures()).toBeNull()
  expect(await projectBatch(deps, 'orders', batch)).toMatchObject({ next: 2 })
  expect(send).toHaveBeenCalledTimes(2)
})

test('a batch retried after Postgres failed has no second dead letter', async ({ harness, eventId, at }) => {
  const records = [Buffer.from('{'), anOrder({ eventId }), Buffer.from('[')]
  for (let attempt = 0; attempt < 2; attempt++)
    await whileFull(harness, () => expect(at.orders(0, ...records)).rejects.toThrow('full_disk'))
  expect(await at.orders(0, ...records)).toMatchObject({ next: 3 })
  expect(harness.deadLetters.map(({ headers }) => headers?.['__connect.errors.offset'])).toEqual(['0', '2'])
})

test('another record at the offset of one that was not committed has its own dead letter', async ({
  harness,
  at,
}) => {
  const fails = () => expect(at.orders(0, Buffer.from('{'))).rejects.toThrow('full_disk')
  await whileFull(harness, fails, offsetsAreFull)
  // The topic was created again meanwhile.
  await at.orders(0, Buffer.from('['))
  expect(harness.deadLetters.map(({ value }) => String(value))).toEqual(['{', '['])
})

test('a slice that was committed keeps the dead letters of the next one', async ({ harness, eventId }) => {
  const committed = batchOf(topics.orders, 0, [Buffer.from('{')])
  const next = batchOf(topics.orders, 1, [Buffer.from('['), anOrder({ eventId })])
  await projectBatch(harness.deps, 'orders', committed)
  const again = { next: 1, effects: undefined }
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(await projectBatch(harness.deps, 'orders', committed)).toMatchObject(again)
    const fails = () => expect(projectBatch(harness.deps, 'orders', next)).rejects.toThrow('full_disk')
    await whileFull(harness, fails)
  }
  await projectBatch(harness.deps, 'orders', next)
  expect(harness.deadLetters.map(({ headers }) => headers?.['__connect.errors.offset'])).toEqual(['0', '1'])
})

test('a retried batch sends neither bad records nor conflicts twice', async ({ harness, eventId, at }) => {
  const [own, other] = [newEventId(), newEventId()]
  const records = [
    {},
    anEvent({ eventId, organizationId: own }),
    anEvent({ eventId, organizationId: other, version: 2 }),
  ]
  const fails = () => expect(at.events(0, ...records)).rejects.toThrow('full_disk')
  for (const full of [{ table: 'events' }, offsetsAreFull, offsetsAreFull])
    await whileFull(harness, fails, full)
  await at.events(0, ...records)
  const offsets = harness.deadLetters.map(({ headers }) => headers?.['__connect.errors.offset'])
  expect(offsets.sort()).toEqual(['0', '2'])
})

test('a dead letter that is still being sent is awaited, not sent again', async ({ harness, eventId }) => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const send = vi.fn(() => arrived)
  const deps = { ...harness.deps, deadLetters: createDeadLetters({ send }, 't.dead-letters') }
  const batch = batchOf(topics.orders, 0, [anOrder({ eventId }), Buffer.from('{')])
  await whileFull(harness, () => expect(projectBatch(deps, 'orders', batch)).rejects.toThrow('full_disk'))
  const again = projectBatch(deps, 'orders', batch)
  arrive()
  expect(await again).toMatchObject({ next: 2 })
  expect(send).toHaveBeenCalledOnce()
})

test('the first good refund of a version wins, and the next version replaces it', async ({ eventId, at }) => {
  await at.orders(0, anOrder({ eventId }))
  const { effects } = await at.refunds(
    0,
    aRefund({ eventId, amount: -1 }),
    aRefund({ eventId }),
    aRefund({ eventId, version: 1 }),
    aRefund({ eventId, amount: 1, lines: [] }),
  )
  expect(effects?.counts).toEqual({ applied: 1, parked: 0, duplicate: 1, ignored: 0 })
  await at.refunds(4, aRefund({ eventId, amount: 2, lines: [] }))
  expect(await at.figures()).toEqual({ orders: 1, sales: 8.5, sold: 1 })
  const fields = { eventId, version: 2, amount: 1, lines: [] }
  await at.refunds(5, aRefund(fields), aRefund({ ...fields, refundId: 'R-2' }))
  expect(await at.figures()).toEqual({ orders: 1, sales: 15, sold: 2 })
})

type Outcome = 'applied' | 'duplicate' | 'conflict' | 'contradiction'

/** The outcome of each record of a batch. */
const outcomesOf = (records: [object, Outcome][], { effects }: Awaited<ReturnType<typeof projectBatch>>) => ({
  counts: { applied: effects?.counts.applied, duplicate: effects?.counts.duplicate },
  rejected: effects?.rejected.map(({ rejected }) => rejected.reason),
  expected: {
    counts: {
      applied: records.filter(([, outcome]) => outcome === 'applied').length,
      duplicate: records.filter(([, outcome]) => outcome === 'duplicate').length,
    },
    rejected: records.map(([, outcome]) => outcome).filter(outcome => /^con/.test(outcome)),
  },
})

test('records of one version are judged in order, whatever the batches', async ({ eventId, at }) => {
  const order = (version: number, totalAmount: number, fields: object = {}) =>
    anOrder({ eventId, version, totalAmount, tableNumber: null, ...fields })
  const records: [ReturnType<typeof order>, Outcome][] = [
    [order(1, 10), 'applied'],
    [order(1, 10), 'duplicate'],
    [order(1, 10, { orderDateTime: '2026-09-04T21:31:07.000+02:00', tableNumber: undefined }), 'duplicate'],
    [order(1, 11), 'contradiction'],
    [order(3, 12), 'applied'],
    [order(1, 11), 'duplicate'],
    [order(2, 15), 'duplicate'],
    [order(3, 13), 'contradiction'],
    [order(3, 12), 'duplicate'],
    [order(4, 14), 'applied'],
    [order(3, 13), 'duplicate'],
  ]
  const whole = outcomesOf(records, await at.orders(0, ...records.map(([record]) => record)))
  expect({ counts: whole.counts, rejected: whole.rejected }).toEqual(whole.expected)
  expect(await at.figures()).toEqual({ orders: 1, sales: 14, sold: 2 })

  const other = newEventId()
  const figures = await at.figures()
  for (const [index, [record, outcome]] of records.entries()) {
    const alone = outcomesOf(
      [[record, outcome]],
      await at.orders(records.length + index, { ...record, eventId: other }),
    )
    expect({ index, counts: alone.counts, rejected: alone.rejected }).toEqual({ index, ...alone.expected })
  }
  expect(await at.figures()).toEqual(figures)
})

test('refunds, events and organizations are judged alike, alone or in a batch', async ({ eventId, at }) => {
  const [own, other] = [newOrganizationId(), newOrganizationId()]
  const event = (version: number, name: string, organizationId = own) =>
    anEvent({ eventId, organizationId, version, name })
  const events: [ReturnType<typeof event>, Outcome][] = [
    [event(2, 'two'), 'applied'],
    [event(2, 'two'), 'duplicate'],
    [event(2, 'other'), 'contradiction'],
    [event(2, 'other', other), 'conflict'],
    [event(3, 'three'), 'applied'],
    [event(2, 'other'), 'duplicate'],
    [event(3, 'other'), 'contradiction'],
  ]
  const refund = (version: number | undefined, amount: number, orderId = 'A-1') =>
    aRefund({ eventId, version, amount, orderId, lines: [] })
  const refunds: [ReturnType<typeof refund>, Outcome][] = [
    [refund(undefined, 1), 'applied'],
    [refund(1, 1), 'duplicate'],
    [refund(1, 2), 'contradiction'],
    [refund(5, 2, 'A-2'), 'conflict'],
    [refund(3, 0), 'applied'],
    [refund(2, 9), 'duplicate'],
    [refund(3, 1), 'contradiction'],
  ]
  for (const { offset, size } of [
    { offset: 0, size: 7 },
    { offset: 7, size: 1 },
  ]) {
    const id = size === 7 ? eventId : newEventId()
    for (let from = 0; from < 7; from += size) {
      const [some, back] = [events.slice(from, from + size), refunds.slice(from, from + size)]
      const valuesOf = (list: [object, Outcome][]) => list.map(([record]) => ({ ...record, eventId: id }))
      const ofEvents = outcomesOf(some, await at.events(offset + from, ...valuesOf(some)))
      expect({ from, size, ...ofEvents }).toMatchObject({ from, size, ...ofEvents.expected })
      const ofRefunds = outcomesOf(back, await at.refunds(offset + from, ...valuesOf(back)))
      // Without an order, what applies is parked.
      const expected = { from, size, rejected: ofRefunds.expected.rejected }
      expect({ from, size, rejected: ofRefunds.rejected }).toEqual(expected)
    }
  }
})

test('an organization that is said otherwise under its version is a contradiction', async ({ harness }) => {
  const organizationId = newOrganizationId()
  const named = (version: number, name: string) => ({ organizationId, version, name, status: 'Trial' })
  const batch = batchOf(topics.organizations, 0, [named(1, 'a'), named(1, 'a'), named(1, 'b'), named(2, 'b')])
  expect(await projectBatch(harness.deps, 'organizations', batch)).toMatchObject({
    effects: { counts: { applied: 2, duplicate: 1 }, rejected: [{ offset: 2 }] },
  })
  const later = batchOf(topics.organizations, 4, [named(2, 'a'), named(1, 'c')])
  expect(await projectBatch(harness.deps, 'organizations', later)).toMatchObject({
    effects: {
      counts: { applied: 0, duplicate: 1 },
      rejected: [{ offset: 4, rejected: { reason: 'contradiction' } }],
    },
  })
})

test('a refund that arrives before its order waits for it', async ({ eventId, at }) => {
  const { effects } = await at.refunds(0, aRefund({ eventId }))
  expect(effects?.counts).toEqual({ applied: 0, parked: 1, duplicate: 0, ignored: 0 })
  expect(await at.figures()).toBeNull()
  await at.orders(0, anOrder({ eventId }))
  expect(await at.figures()).toEqual({ orders: 1, sales: 8.5, sold: 1 })
})
