import { ensureOffsets, lockOffset, readAsOf, readOffsets, storeOffsets } from '@tally/offsets'
import { createLogger } from '@tally/platform'
import type { ReadModelRedis } from '@tally/publication'
import { freshDatabase, type TestDatabase } from '@tally/testkit/servers/database'
import { connectTo, newTopic, sendAll, texts } from '@tally/testkit/servers/kafka'
import { allKeys } from '@tally/testkit/servers/redis'
import { until } from '@tally/testkit/until'
import { afterAll, afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import type { ProjectorMetrics } from '../metrics.ts'
import type { Publisher } from '../publish/publisher.ts'
import { createProgress } from './progress.ts'
import type { WatchDeps } from './steps.ts'
import { watch } from './watch.ts'

const ends = [5, 1_000, 5]
const kafka = connectTo(inject('servers').kafkaBrokers)
afterAll(() => kafka.close())
const topic = await newTopic(kafka, { partitions: ends.length })
await sendAll(
  kafka,
  ends.flatMap((end, partition) => texts(topic, Array<string>(end).fill('a record'), partition)),
)

let database: TestDatabase
beforeEach(async () => {
  database = await freshDatabase()
})
afterEach(() => database.drop())

/** Inserts a partition's row with everything applied. */
async function apply(partition: number): Promise<void> {
  await ensureOffsets(database.db, topic, [partition])
  await database.db.transaction().execute(async tx => {
    await lockOffset(tx, topic, partition)
    await storeOffsets(tx, topic, [{ partition, next: ends[partition] as number, revision: undefined }])
  })
}

/** Partitions that the watch reads again because Postgres lost their commits. */
let sought: Set<number>
/** Shards whose watermark Redis would have removed: it was later than the clock that came with the call. */
let removed: string[]
/**
 * Runs a projector's watch for three ticks; `heldBack`: partitions of which something is not published yet. With
 * `publishing`, a flush lasts until all watermarks are raised twice. Returns the watermarks that it raised in Redis, by
 * the key of the shard; -1: it told Redis that the watermark is not known.
 */
async function watched(
  partitions: number[],
  heldBack: number[] = [],
  {
    walk = { step: async () => {} },
    logger = createLogger('test', 'silent'),
    logs = { isSound: () => true, isHeld: ({ partition }) => heldBack.includes(partition) },
    publishing,
  }: Partial<WatchDeps> & { publishing?: PromiseWithResolvers<void> } = {},
): Promise<Map<string, number>> {
  const { db } = database
  const raised = new Map<string, number>()
  const again = new Set<string>()
  sought = new Set()
  removed = []
  const raiseAsOf = async (key: string, epoch: number, nowMs: number, _field: string, atMs: number) => {
    const current = raised.get(key) ?? -1
    if (current > nowMs) removed.push(key)
    if (current > 0 && atMs > current) again.add(key)
    if (atMs !== undefined) raised.set(key, atMs)
    return epoch
  }
  const progress = createProgress()
  for (const partition of partitions) progress.applied({ topic, partition }, ends[partition] as number)
  let flushes = 0
  const publisher: Publisher = {
    add() {},
    again() {},
    drain: async () => {},
    flush() {
      flushes++
      return publishing?.promise ?? Promise.resolve()
    },
    heal: async () => false,
    holdsBack: ({ partition }) => heldBack.includes(partition),
  }
  const series = { set() {}, inc() {} }
  const metrics = { lag: series, freshness: series, failures: series, lostCommits: series }
  const watching = watch({
    kafka,
    db,
    redis: { raiseAsOf } as unknown as ReadModelRedis,
    keys: allKeys('test'),
    publisher,
    progress,
    seen: { epoch: 0, revision: 0 },
    walk,
    sizes: { step: async () => {} },
    logs,
    refusals: { during: writes => writes() },
    partitioner: { learn() {} },
    consumer: () => ({ seek: (_topic, partition) => sought.add(partition) }),
    topics: [topic],
    assigned: () => partitions.map(partition => ({ topic, partition })),
    metrics: metrics as unknown as ProjectorMetrics,
    logger,
  })
  if (publishing === undefined) await until('three ticks are over', () => flushes >= 3)
  else await until('all watermarks are raised twice', () => again.size === partitions.length)
  publishing?.resolve()
  await watching.stop()
  return raised
}

test('while a partition is not assigned to any projector, no watermark is raised, and it does not count as added', async () => {
  await apply(0)
  await apply(2)
  expect([...(await watched([0, 2])).values()]).toEqual([-1, -1])
  await ensureOffsets(database.db, topic, [1])
  expect(await readAsOf(database.db, [topic], 1)).toBeNull()
})

test('once partitions were added, no watermark in Redis exceeds what all partitions have published', async () => {
  await apply(0)
  await apply(1)
  await database.db
    .updateTable('shard_watermarks')
    .set({ as_of: new Date(1_000).toISOString() })
    .execute()
  await apply(2)
  expect([...(await watched([0, 1, 2], [1])).values()]).toEqual([-1, -1, -1])
  const raised = await watched([0, 1, 2])
  expect(raised.size).toBe(3)
  expect(new Set(raised.values()).size).toBe(1)
  expect(Math.max(...raised.values())).toBeGreaterThan(1_000)
})

test('while documents are being published for long, the watermarks of what is published rise, and stay', async () => {
  for (const partition of [0, 1, 2]) await apply(partition)
  const raised = await watched([0, 1, 2], [], { publishing: Promise.withResolvers() })
  expect([raised.size, removed]).toEqual([3, []])
})

test('the end of a log that was not compared raises no watermark', async () => {
  for (const partition of [0, 1, 2]) await apply(partition)
  const logs: WatchDeps['logs'] = { isSound: ({ partition }) => partition !== 1, isHeld: () => false }
  const raised = await watched([0, 1, 2], [], { logs })
  expect([...raised.values()].map(atMs => atMs > 0)).toEqual([true, false, true])
})

test('offset rows are inserted again if a restored database has none', async () => {
  await apply(0)
  await database.db.deleteFrom('shard_offsets').execute()
  await watched([0])
  expect((await readOffsets(database.db, [topic])).map(({ partition }) => partition)).toEqual([0])
})

test('an offset that an operator moves back, of a log that was created again, is not a lost commit', async () => {
  for (const partition of [0, 1, 2]) await apply(partition)
  await database.db.updateTable('shard_offsets').set({ next_offset: 2 }).execute()
  await watched([0, 1], [1])
  expect([...sought]).toEqual([0])
})

test('an error that waiting does not resolve is logged once, and the watch continues', async () => {
  await apply(0)
  const logger = createLogger('test', 'silent')
  const logged = vi.spyOn(logger, 'error')
  const step = vi.fn(() => Promise.reject(new TypeError('a bug')))
  await watched([0], [], { walk: { step }, logger })
  expect(step.mock.calls.length).toBeGreaterThan(1)
  expect(logged.mock.calls).toHaveLength(1)
})
