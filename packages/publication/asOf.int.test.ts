import {
  ensureOffsets,
  lockOffset,
  readAsOf,
  readAsOfByShard,
  readStored,
  storeOffsets,
} from '@tally/offsets'
import { newEventId } from '@tally/testkit/records/records'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { raiseAsOf, raisePublished } from './watermarks.ts'

const database = await databaseOfFile()
beforeAll(async () => {
  await ensureOffsets(database.db, 'orders', [0, 1])
})

const endOf = (partition: number, end: number, atMs: number) => ({ topic: 'orders', partition, end, atMs })
const raise = (...ends: ReturnType<typeof endOf>[]) => raiseAsOf(database.db, ['orders'], ends)
const watermarks = () => Promise.all([0, 1, 2].map(shard => readAsOf(database.db, ['orders'], shard)))

/** Everything before `next` is applied. */
const apply = (partition: number, next: number) =>
  database.db.transaction().execute(async tx => {
    await lockOffset(tx, 'orders', partition)
    await storeOffsets(tx, 'orders', [{ partition, next, revision: undefined }])
  })

test('an end that is not reached raises nothing; one that is reached raises the watermark to its time', async () => {
  await apply(0, 5)
  const { raised } = await raise(endOf(0, 5, 1_000), endOf(1, 1, 1_000))
  const byPartition = raised.map(({ partition, asOfMs }) => [partition, asOfMs])
  expect(Object.fromEntries(byPartition)).toEqual({ 0: 1_000, 1: null })
  await apply(1, 1)
  await raise(endOf(1, 1, 500))
  expect(await watermarks()).toEqual([1_000, 500, null])
})

test('an added partition begins with the lowest watermark, and holds the others until it has caught up', async () => {
  await ensureOffsets(database.db, 'orders', [2])
  expect(await watermarks()).toEqual([1_000, 500, 500])
  await raise(endOf(0, 5, 2_000), endOf(1, 1, 2_000))
  expect(await watermarks()).toEqual([1_000, 500, 500])
  await raise(endOf(2, 1, 2_000))
  expect(await watermarks()).toEqual([1_000, 500, 500])
})

test('once partitions were added, no watermark exceeds that of the partition furthest behind, or its end', async () => {
  await apply(2, 1)
  await raise(endOf(0, 5, 3_000), endOf(1, 1, 3_000), endOf(2, 1, 2_500))
  await raise(endOf(0, 5, 3_000), endOf(1, 1, 3_000), endOf(2, 2, 3_000))
  const { raised } = await raise(endOf(0, 5, 2_000))
  expect(raised).toMatchObject([{ asOfMs: 2_000, caughtUpToMs: 2_000 }])
  expect(await watermarks()).toEqual([2_500, 2_500, 2_500])
})

test('the published watermark of all partitions is the earliest one, and null while one is unknown', async () => {
  const none = { topic: 'orders', revision: 0, asOfMs: null }
  const published = (partition: number, caughtUpToMs: number | null) => ({ ...none, partition, caughtUpToMs })
  const publish = (...all: ReturnType<typeof published>[]) => raisePublished(database.db, ['orders'], all)
  expect(await publish(published(0, 5_000), published(1, 4_000), published(2, null))).toBeNull()
  expect(await publish(published(2, 3_000), published(2, 2_000))).toBe(3_000)
  expect(await publish(published(2, 6_000), published(1, 1_000))).toBe(4_000)
})

test('the watermark of a shard in Redis requires the revision of its scattered events', async () => {
  const head = (shard: number, revision: number) => ({ event_id: newEventId(), shard, revision })
  const heads = [{ ...head(1, 900), is_scattered: true }, head(0, 950)]
  await database.db.insertInto('event_heads').values(heads).execute()
  const { raised } = await raise(endOf(0, 5, 3_000), endOf(1, 1, 3_000))
  const byPartition = raised.map(({ partition, revision }) => [partition, revision])
  expect(Object.fromEntries(byPartition)).toEqual({ 0: 0, 1: 900 })
})

test('a watermark that another session has locked stays, and the others are raised', async () => {
  await database.db.transaction().execute(async tx => {
    await sql`select from shard_watermarks where topic = 'orders' and partition = 1 for update`.execute(tx)
    const { raised } = await raise(endOf(0, 5, 9_000), endOf(1, 1, 9_000))
    expect(raised.map(({ partition }) => partition)).toEqual([0])
  })
  const { raised } = await raise(endOf(1, 1, 9_000))
  expect(raised.map(({ partition }) => partition)).toEqual([1])
})

test('a watermark later than the database’s clock, which has gone back, is unknown until its partition has caught up', async () => {
  const { db } = database
  await sql`
update shard_watermarks set as_of = at, caught_up_to = at, published_up_to = at
from (select clock_timestamp() + interval '1 hour' as at) as before`.execute(db)
  const unknown = [null, null, null]
  expect(await watermarks()).toEqual(unknown)
  expect((await readAsOfByShard(db, ['orders'])).byShard).toEqual(new Map())
  const { offsets, nowMs } = await readStored(db, ['orders'])
  expect(offsets.map(({ asOfMs, caughtUpToMs }) => asOfMs ?? caughtUpToMs)).toEqual(unknown)

  // Partitions 1 and 2 are behind: the clock will reach the hour while they still are.
  await raise(endOf(0, 5, nowMs))
  const stored = await db.selectFrom('shard_watermarks').selectAll().orderBy('partition').execute()
  expect(stored.map(row => [row.as_of, row.caught_up_to, row.published_up_to])).toEqual([
    [null, nowMs, null],
    unknown,
    unknown,
  ])
  await raise(endOf(1, 1, nowMs), endOf(2, 2, nowMs))
  expect(await watermarks()).toEqual(unknown)
  await apply(2, 2)
  await raise(endOf(0, 5, nowMs), endOf(1, 1, nowMs), endOf(2, 2, nowMs))
  expect(await watermarks()).toEqual([nowMs, nowMs, nowMs])
})

test('a partition that is added while the watermark of another is unknown begins without one', async () => {
  const { db } = database
  await ensureOffsets(db, 'refunds', [0, 1])
  await raiseAsOf(db, ['refunds'], [{ ...endOf(0, 0, 1_000), topic: 'refunds' }])
  await ensureOffsets(db, 'refunds', [2])
  const { offsets } = await readStored(db, ['refunds'])
  const stored = offsets.map(({ partition, asOfMs, isAdded }) => `${partition} ${asOfMs} ${isAdded}`)
  expect(stored.sort()).toEqual(['0 1000 false', '1 null false', '2 null true'])
})
