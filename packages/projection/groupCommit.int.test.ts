import { setImmediate, setTimeout } from 'node:timers/promises'
import type { EventId } from '@tally/contract'
import { lockEvents, readCounters, removeEvent } from '@tally/figures'
import type { RecordBatch } from '@tally/kafka'
import { ensureOffsets, lockOffset, nextRevision, readOffsets } from '@tally/offsets'
import type { Tx } from '@tally/platform'
import { batchOf, type Harness, topics } from '@tally/testkit/projection/harness'
import { test as base } from '@tally/testkit/projection/projectionTest'
import { anOrder, type Fields, friday, newEventId } from '@tally/testkit/records/records'
import { until } from '@tally/testkit/until'
import { expect } from 'vitest'
import { createGroupCommit } from './groupCommit.ts'
import { type ProjectorDeps, projectBatch, projectJudged } from './projectBatch.ts'

const partitions = [0, 1, 2, 3]
const orders = (partition: number, from: number, ...values: Parameters<typeof batchOf>[2]) =>
  batchOf(topics.orders, from, values, partition)
const order = (eventId: EventId, fields: Fields = {}) => anOrder({ eventId, ...fields })

/** `ids`: an event for each partition; `group`: projects batches at the same time, as a projector does. */
const test = base
  .extend('ids', () => partitions.map(newEventId) as [EventId, EventId, EventId, EventId])
  .extend('group', ({ harness, at }) => openGroup(harness, at))

/** After `at`, which empties the offsets. */
async function openGroup(harness: Harness, _at: unknown) {
  await ensureOffsets(harness.db, topics.orders, partitions)
  const sizes: number[] = []
  const withGroups = (more: Partial<ProjectorDeps> = {}, lockTimeoutMs?: number): ProjectorDeps => {
    const deps = { ...harness.deps, ...more }
    const groups = createGroupCommit({
      project(judged, options) {
        if (options !== undefined) sizes.push(judged.length)
        return projectJudged(deps, 'orders', judged, options)
      },
      most: partitions.length,
      ...(lockTimeoutMs !== undefined && { lockTimeoutMs }),
      onFailed: (_error, batches) => void failed.push(batches),
    })
    return { ...deps, groups }
  }
  const failed: number[] = []
  return {
    /** How many batches each shared transaction had, also if it failed. */
    sizes,
    /** How many batches those that failed had. */
    failed,
    withGroups,
    /** Without `deps`, as by a projector that has just started. */
    project(batches: RecordBatch[], deps = withGroups()) {
      return batches.map(batch => projectBatch(deps, 'orders', batch))
    },
    /** The next offset of each partition. */
    async reached() {
      const rows = await readOffsets(harness.db, [topics.orders])
      return partitions.map(partition => rows.find(row => row.partition === partition)?.nextOffset)
    },
    /** The shard of each event, and whether it has records in others too. */
    async shards(ids: EventId[]) {
      const heads = await harness.db
        .selectFrom('event_heads')
        .select(['event_id', 'shard', 'is_scattered'])
        .where('event_id', 'in', ids)
        .execute()
      return ids.map(id => {
        const head = heads.find(({ event_id }) => event_id === id)
        return head && { shard: head.shard, is_scattered: head.is_scattered }
      })
    },
    /** How many paid orders are counted of each event. */
    paid: (ids: EventId[]) =>
      Promise.all(
        ids.map(async id => {
          const counters = await readCounters(harness.db, id)
          return counters.get(friday)?.get(0)?.daily.only().Paid ?? 0
        }),
      ),
  }
}

test('batches that come at once share a transaction; each has its own effects', async ({ ids, group }) => {
  const [a, b, c] = ids
  await Promise.all(group.project([orders(2, 0, order(c, { version: 3 }))]))
  const projected = await Promise.all(
    group.project([
      orders(0, 0, order(a), order(a, { orderId: 'A-2' })),
      orders(1, 0, order(b), order(b, { version: 2, totalAmount: 5 })),
      orders(2, 1, order(c, { version: 2 })),
    ]),
  )
  expect(group.sizes).toEqual([1, 3])
  const [first, second, third] = projected.map(({ effects }) => effects)
  expect(first).toMatchObject({ counts: { applied: 2, duplicate: 0 }, since: 0 })
  expect(second).toMatchObject({ counts: { applied: 2, duplicate: 0 }, revision: first?.revision })
  expect(third).toMatchObject({ counts: { applied: 0, duplicate: 1 }, revision: undefined })
  expect(third?.since).toBeGreaterThan(0)
  expect([first, second, third].map(effects => [...(effects?.events.keys() ?? [])])).toEqual([[a], [b], []])
  expect(await group.reached()).toEqual([2, 2, 2, 0])
  expect(await group.paid(ids)).toEqual([2, 1, 1, 0])
})

/** Dead letters, such as of a contradiction, that a partition's transaction waits for until `release` is called. */
function holding(harness: Harness, held: number) {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const send = ({ partition }: RecordBatch) => (partition === held ? promise : Promise.resolve())
  return { deadLetters: { ...harness.deps.deadLetters, send }, release }
}

test('batches that come during a shared transaction share the next one', async ({ ids, group, harness }) => {
  const [a, b, c] = ids
  const { deadLetters, release } = holding(harness, 0)
  const deps = group.withGroups({ deadLetters })
  const projecting = group.project([orders(0, 0, order(a), order(a, { totalAmount: 1 }))], deps)
  await until('the first is in progress', () => group.sizes.length === 1)
  for (const batch of [orders(1, 0, order(b)), orders(2, 0, order(c))]) {
    projecting.push(...group.project([batch], deps))
    // Long enough for a transaction of its own to begin.
    for (let turn = 0; turn < 3; turn++) await setImmediate()
  }
  release()
  expect((await Promise.all(projecting)).map(({ next }) => next)).toEqual([2, 1, 1])
  expect(group.sizes).toEqual([1, 2])
  expect(await group.paid(ids)).toEqual([1, 1, 1, 0])
})

test('a shared transaction that hangs holds up its own partitions alone', async ({ ids, group, harness }) => {
  const [a, b, c] = ids
  const { deadLetters, release } = holding(harness, 0)
  const deps = group.withGroups({ deadLetters })
  const [hanging] = group.project([orders(0, 0, order(a), order(a, { totalAmount: 1 }))], deps)
  await until('the first is in progress', () => group.sizes.length === 1)
  await Promise.all(group.project([orders(1, 0, order(b)), orders(2, 0, order(c))], deps))
  expect(await group.reached()).toEqual([0, 1, 1, 0])
  release()
  expect(await hanging).toMatchObject({ next: 2 })
  expect(await group.paid(ids)).toEqual([1, 1, 1, 0])
})

test('a partition that waited or failed alone stays apart for a while', async ({ ids, group, harness }) => {
  const [a, b, c] = ids
  const verify: ProjectorDeps['verify'] = ({ partition, from }) => {
    if (partition === 2 && from === 0) throw new Error('another log')
  }
  // On a busy machine the first partition's own transaction takes more than the usual 100 ms, and it stays apart, too.
  const lockTimeoutMs = 1_000
  const deps = group.withGroups({ verify }, lockTimeoutMs)
  const batches = (from: number) => {
    const fields = { orderId: `A-${from}` }
    return [a, b, c].map((id, partition) => orders(partition, from, order(id, fields)))
  }
  const { others } = await harness.db.transaction().execute(async tx => {
    await lockOffset(tx, topics.orders, 1)
    const [first, locked, refused] = group.project(batches(0), deps)
    const others = Promise.allSettled([locked, refused])
    await first
    await until('all are tried alone', () => group.failed.length === 1)
    // Longer than a shared transaction would have waited.
    await setTimeout(2 * lockTimeoutMs)
    return { others }
  })
  expect(await others).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected' }])
  expect(group.failed).toEqual([3])
  await Promise.all(group.project(batches(1).slice(0, 2), deps))
  expect(group.sizes).toEqual([3, 1])
  expect(await group.reached()).toEqual([2, 2, 0, 0])
})

test('a contradiction is applied alone, because its dead letter has to be acknowledged; its partition stays apart', async ({
  ids,
  group,
  harness,
}) => {
  const [a, b] = ids
  await Promise.all(group.project([orders(0, 0, order(a)), orders(1, 0, order(b))]))
  const { deadLetters, release } = holding(harness, 1)
  // Its partition stays apart for the rejected record, not for the time that it took.
  const deps = group.withGroups({ deadLetters }, 60_000)
  const [good, contradicting] = group.project(
    [orders(0, 1, order(a, { version: 2 })), orders(1, 1, order(b, { totalAmount: 1 }))],
    deps,
  )
  expect(await good).toMatchObject({ next: 2 })
  expect(await group.reached()).toEqual([2, 1, 0, 0])
  release()
  expect(await contradicting).toMatchObject({
    next: 2,
    effects: { counts: { duplicate: 0 }, rejected: [{ offset: 1, rejected: { reason: 'contradiction' } }] },
  })
  group.sizes.length = 0
  await Promise.all(group.project([orders(1, 2, order(b, { version: 2 }))], deps))
  expect(group.sizes).toEqual([])
})

test('a batch that was applied before, or leaves a gap, changes nothing; the others of its group are applied', async ({
  ids,
  group,
}) => {
  const [a, b, c, d] = ids
  await Promise.all(group.project([orders(0, 0, order(a)), orders(1, 0, order(b)), orders(2, 0, order(c))]))
  const projected = await Promise.all(
    group.project([
      orders(0, 0, order(a, { version: 9, status: 'Cancelled' })),
      orders(1, 5, order(b, { orderId: 'B-2' })),
      orders(2, 0, order(c, { version: 9, status: 'Cancelled' }), order(c, { orderId: 'C-2' })),
      orders(3, 0, order(d)),
    ]),
  )
  expect(group.sizes).toEqual([3, 4])
  expect(projected.map(({ next, effects }) => [next, effects?.counts.applied])).toEqual([
    [1, undefined],
    [1, undefined],
    [2, 1],
    [1, 1],
  ])
  expect(await group.reached()).toEqual([1, 1, 2, 1])
  expect(await group.paid(ids)).toEqual([1, 1, 2, 1])
})

test('two batches of one partition never share a transaction', async ({ ids, group }) => {
  const [a, b] = ids
  const both = [order(a), order(a, { orderId: 'A-2' })]
  const projected = await Promise.all(
    group.project([
      orders(0, 0, ...both),
      orders(0, 0, ...both, order(a, { orderId: 'A-3' })),
      orders(1, 0, order(b)),
    ]),
  )
  expect(group.sizes).toEqual([2, 1])
  expect(projected.map(({ next, effects }) => [next, effects?.counts])).toMatchObject([
    [2, { applied: 2, duplicate: 0 }],
    [3, { applied: 1, duplicate: 0 }],
    [1, { applied: 1 }],
  ])
  expect(await group.reached()).toEqual([3, 1, 0, 0])
  expect(await group.paid(ids)).toEqual([3, 1, 0, 0])
})

test('a partition whose offset, or whose event, is locked waits alone: the others of its group are applied', async ({
  ids,
  group,
  harness,
}) => {
  const [a, b, c] = ids
  await Promise.all(group.project([orders(1, 0, order(b))]))
  for (const [round, lock] of [
    (tx: Tx) => lockOffset(tx, topics.orders, 1),
    (tx: Tx) => lockEvents(tx, new Map([[b, 1]])),
  ].entries()) {
    const at = { orderId: `A-${round + 2}` }
    const waiting = await harness.db.transaction().execute(async tx => {
      await lock(tx)
      const [first, locked, third] = group.project([
        orders(0, round, order(a, at)),
        orders(1, round + 1, order(b, at)),
        orders(2, round, order(c, at)),
      ])
      await Promise.all([first, third])
      return { locked }
    })
    expect(await waiting.locked).toMatchObject({ next: round + 2, effects: { counts: { applied: 1 } } })
  }
  expect(group.sizes).toEqual([1, 3, 3])
  expect(await group.paid(ids)).toEqual([2, 3, 2, 0])
})

test('a batch from another log is refused; the others of its group are applied', async ({ ids, group }) => {
  const [a, b] = ids
  const verify = ({ partition }: RecordBatch) => {
    if (partition === 1) throw new Error('another log')
  }
  const projecting = group.project(
    [orders(0, 0, order(a)), orders(1, 0, order(b))],
    group.withGroups({ verify }),
  )
  expect(await Promise.allSettled(projecting)).toMatchObject([
    { status: 'fulfilled', value: { next: 1 } },
    { status: 'rejected', reason: { message: 'another log' } },
  ])
  expect(group.sizes).toEqual([2])
  expect(await group.reached()).toEqual([1, 0, 0, 0])
  expect(await group.paid(ids)).toEqual([1, 0, 0, 0])
})

test('orders of an event from two partitions at once count once, and scatter it', async ({ ids, group }) => {
  const [a, b] = ids
  const projecting = group.project([
    orders(0, 0, order(a), order(a, { orderId: 'A-2' })),
    orders(1, 0, order(a, { version: 2, status: 'Cancelled' }), order(a, { orderId: 'A-3' })),
    orders(2, 0, order(b)),
  ])
  const projected = await Promise.all(projecting)
  expect(projected.map(({ next }) => next)).toEqual([2, 2, 1])
  expect(await group.paid(ids)).toEqual([2, 1, 0, 0])
  expect((await group.shards(ids)).slice(0, 2)).toEqual([
    expect.objectContaining({ is_scattered: true }),
    { shard: 2, is_scattered: false },
  ])
})

test('an event whose orders come from a new partition is scattered in a group', async ({ ids, group }) => {
  const [a, b] = ids
  await Promise.all(group.project([orders(0, 0, order(a)), orders(1, 0, order(b))]))
  const projected = await Promise.all(
    group.project([orders(2, 0, order(a, { orderId: 'A-2' })), orders(1, 1, order(b, { orderId: 'B-2' }))]),
  )
  expect(group.sizes).toEqual([2, 2])
  expect(projected.map(({ effects }) => effects?.events.values().next().value?.event)).toEqual([true, false])
  await Promise.all(group.project([orders(0, 1, order(a, { orderId: 'A-3' }))]))
  expect((await group.shards(ids)).slice(0, 2)).toEqual([
    { shard: 0, is_scattered: true },
    { shard: 1, is_scattered: false },
  ])
  expect(await group.paid(ids)).toEqual([3, 2, 0, 0])
})

test('a group ignores orders of removed events, and applies the others', async ({ ids, group, harness }) => {
  const [a, b] = ids
  await harness.db.transaction().execute(async tx => {
    await lockEvents(tx, new Map([[a, 0]]))
    await removeEvent(tx, { eventId: a, organizationId: null }, await nextRevision(tx))
  })
  const projected = await Promise.all(group.project([orders(0, 0, order(a)), orders(1, 0, order(b))]))
  expect(group.sizes).toEqual([2])
  expect(projected.map(({ effects }) => [effects?.counts.ignored, effects?.counts.applied])).toEqual([
    [1, 0],
    [0, 1],
  ])
  expect(await group.paid(ids)).toEqual([0, 1, 0, 0])
})

test('a batch with bad records, one of many records and one of large records have transactions of their own', async ({
  ids,
  group,
  harness,
}) => {
  const [a, b, c] = ids
  const many = Array.from({ length: 101 }, (_, n) => order(b, { orderId: `B-${n}` }))
  const items = Array.from({ length: 500 }, (_, n) => ({
    menuItemId: n + 1,
    itemName: 'Burger',
    quantity: 1,
    unitPrice: 1,
  }))
  const large = Array.from({ length: 12 }, (_, n) => order(c, { orderId: `C-${n}`, items }))
  const projected = await Promise.all(
    group.project([orders(0, 0, Buffer.from('{'), order(a)), orders(1, 0, ...many), orders(2, 0, ...large)]),
  )
  expect(group.sizes).toEqual([])
  expect(projected.map(({ next }) => next)).toEqual([2, 101, 12])
  expect(harness.deadLetters).toHaveLength(1)
  expect(await group.paid(ids)).toEqual([1, 101, 12, 0])
})
