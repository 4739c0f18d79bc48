import { redisOfFile } from '@tally/testkit/servers/redis'
import { beforeEach, expect, test } from 'vitest'
import { readShardHash } from './shardHash.ts'

const { redis, keys } = await redisOfFile()
let key: string
let shard = 0
beforeEach(() => {
  key = keys.shard(shard++)
})

const [before, after] = [1_790_000_000_000_000, 1_790_000_000_000_009]
/** Raises the watermark of orders to `atMs`, which claims all up to `revision`; the database's clock is at 1,000. */
const raise = (epoch: number, atMs: number, revision = 0, nowMs = 1_000) =>
  redis.raiseAsOf(key, epoch, nowMs, 'as-of:orders', atMs, 'published:orders', revision)
const asOf = () => redis.hget(key, 'as-of:orders')

test('a watermark is raised and never lowered', async () => {
  expect(await raise(before, 10)).toBe(before)
  await raise(before, 9)
  expect(await asOf()).toBe('10')
  await raise(before, 11)
  expect(await asOf()).toBe('11')
})

test.each([
  ['replaced', 200, 0, '200'],
  ['removed if the new one is not known', -1, 0, null],
  ['removed if what the new one claims was not published', 200, 5, null],
])(
  'a watermark later than the database’s clock, which has gone back, is %s',
  async (_, atMs, revision, now) => {
    await raise(before, 900)
    await raise(before, atMs, revision, 300)
    expect(await asOf()).toBe(now)
  },
)

test('a watermark that is not known removes none that may be right', async () => {
  await raise(before, 900)
  await raise(before, -1)
  expect(await asOf()).toBe('900')
})

test('a watermark is raised only if the same hash says that what it claims was published', async () => {
  await raise(before, 10, 5)
  expect(await asOf()).toBeNull()
  await redis.raiseMarks(key, before, 1, 'published:orders', 0, 5)
  await raise(before, 10, 5)
  expect(await asOf()).toBe('10')
})

test('a new epoch removes the watermarks of the old one and keeps what was published', async () => {
  await redis.raiseMarks(key, before, 1, 'published:orders', 0, 5, 'revision:a', 5)
  await raise(before, 10, 5)
  expect(await redis.enterEpoch(key, after)).toBe(after)
  expect(await redis.hgetall(key)).toEqual({
    epoch: String(after),
    'published:orders': '5',
    'revision:a': '5',
  })
  await raise(after, 4, 5)
  expect(await asOf()).toBe('4')
})

test('a script with an old epoch writes nothing', async () => {
  await redis.enterEpoch(key, after)
  expect(await raise(before, 10)).toBe(after)
  expect(await redis.raiseMarks(key, before, 1, 'published:orders', 0, 5, 'revision:a', 5)).toBe(after)
  expect(await redis.enterEpoch(key, before)).toBe(after)
  expect(await redis.hgetall(key)).toEqual({ epoch: String(after) })
})

test('the revision of an event is raised and never lowered, even if the published revision stays below a gap', async () => {
  await redis.raiseMarks(key, before, 0, 'revision:a', 7)
  await redis.raiseMarks(
    key,
    before,
    2,
    'published:orders',
    6,
    8,
    'published:refunds',
    0,
    8,
    'revision:a',
    5,
    'revision:b',
    8,
  )
  expect(await redis.hgetall(key)).toEqual({
    epoch: String(before),
    'published:refunds': '8',
    'revision:a': '7',
    'revision:b': '8',
  })
})

test('a watermark that is not a time is read as a missing one', async () => {
  const read = async () => (await readShardHash({ redis, keys }, ['orders'], shard - 1, [])).asOfMs
  await raise(before, 10)
  expect(await read()).toBe(10)
  for (const text of ['9999999999999999', 'soon']) {
    await redis.hset(key, 'as-of:orders', text)
    expect(await read()).toBeNull()
  }
})
