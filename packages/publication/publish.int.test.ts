import { newEventId } from '@tally/testkit/records/records'
import { redisOfFile, testRedis } from '@tally/testkit/servers/redis'
import { expect, test } from 'vitest'

const { redis, keys } = await redisOfFile()

const newKey = () => keys.event(newEventId())

test('a whole document is stored over nothing, over an older revision and over the same one', async () => {
  const key = newKey()
  expect(await redis.publish(key, 5, 'whole', 0, 'a', '1', 'b', '2')).toBe('stored')
  expect(await redis.publish(key, 6, 'whole', 0, 'a', '3')).toBe('stored')
  expect(await redis.hgetall(key)).toEqual({ revision: '6', a: '3' })
  expect(await redis.publish(key, 6, 'whole', 0, 'c', '4')).toBe('stored')
  expect(await redis.hgetall(key)).toEqual({ revision: '6', c: '4' })
})

test('a difference is stored only over the revision that it was made from, and keeps other fields', async () => {
  const key = newKey()
  await redis.publish(key, 5, 'whole', 0, 'a', '1', 'b', '2')
  expect(await redis.publish(key, 9, 5, 0, 'b', '3')).toBe('stored')
  expect(await redis.hgetall(key)).toEqual({ revision: '9', a: '1', b: '3' })
})

test('a difference from another revision is a gap and changes nothing', async () => {
  const key = newKey()
  expect(await redis.publish(key, 9, 0, 0, 'a', '1')).toBe('gap')
  expect(await redis.exists(key)).toBe(0)
  await redis.publish(key, 5, 'whole', 0, 'a', '1')
  expect(await redis.publish(key, 9, 7, 0, 'a', '2')).toBe('gap')
  expect(await redis.hgetall(key)).toEqual({ revision: '5', a: '1' })
})

test('a difference fits a later revision of the same epoch than it was made from, and keeps what that one changed', async () => {
  const key = newKey()
  await redis.publish(key, 5, 'whole', 0, 'epoch', '1', 'a', '1', 'b', '2')
  await redis.publish(key, 7, 'whole', 0, 'epoch', '1', 'a', '1', 'b', '3')
  expect(await redis.publish(key, 9, 5, 0, 'epoch', '1', 'a', '4')).toBe('stored')
  expect(await redis.hgetall(key)).toEqual({ revision: '9', epoch: '1', a: '4', b: '3' })
})

test('a difference over a later revision of another epoch is a gap: Postgres may have lost that revision', async () => {
  const key = newKey()
  await redis.publish(key, 7, 'whole', 0, 'epoch', '1', 'a', '1')
  expect(await redis.publish(key, 9, 5, 0, 'epoch', '2', 'a', '4')).toBe('gap')
  expect(await redis.hgetall(key)).toEqual({ revision: '7', epoch: '1', a: '1' })
})

test('an older revision never replaces a newer one, whole or not', async () => {
  const key = newKey()
  await redis.publish(key, 9, 'whole', 0, 'a', 'new')
  expect(await redis.publish(key, 8, 'whole', 0, 'a', 'old')).toBe('older')
  expect(await redis.publish(key, 8, 5, 0, 'a', 'old')).toBe('older')
  expect(await redis.publish(key, 9, 5, 0, 'a', 'again')).toBe('older')
  expect(await redis.hgetall(key)).toEqual({ revision: '9', a: 'new' })
})

test('revisions are compared as numbers up to 2^53', async () => {
  const key = newKey()
  const top = Number.MAX_SAFE_INTEGER
  await redis.publish(key, 9, 'whole', 0, 'a', '1')
  expect(await redis.publish(key, 10, 9, 0, 'a', '2')).toBe('stored')
  await redis.publish(key, top, 'whole', 0, 'a', 'new')
  expect(await redis.publish(key, top - 1, 'whole', 0, 'a', 'old')).toBe('older')
  expect(await redis.hget(key, 'revision')).toBe(String(top))
})

test('3,000 fields are stored at once: a reader sees one revision or another, never a mix', async () => {
  const key = newKey()
  const fields = (value: string) => Array.from({ length: 3_000 }, (_, i) => [`f${i}`, value]).flat()
  await redis.publish(key, 1, 'whole', 0, ...fields('1'))
  const { redis: reader } = await testRedis()
  let done = false
  const seen: number[] = []
  const reading = (async () => {
    while (!done) seen.push(new Set(await reader.hvals(key)).size)
  })()
  for (let revision = 2; revision <= 12; revision++) {
    const base = revision % 2 === 0 ? 'whole' : revision - 1
    expect(await redis.publish(key, revision, base, 0, ...fields(String(revision)))).toBe('stored')
  }
  done = true
  await reading
  reader.disconnect()
  expect(new Set(seen)).toEqual(new Set([1]))
  expect(await redis.hlen(key)).toBe(3_001)
})

test('a hash expires after its time, which every write starts again; without a time it never does', async () => {
  const key = newKey()
  await redis.publish(key, 5, 'whole', 60_000, 'a', '1')
  expect(await redis.pttl(key)).toBeGreaterThan(0)
  expect(await redis.pttl(key)).toBeLessThanOrEqual(60_000)
  await redis.publish(key, 6, 5, 90_000, 'a', '2')
  expect(await redis.pttl(key)).toBeGreaterThan(60_000)
  expect(await redis.publish(key, 5, 'whole', 10, 'a', '1')).toBe('older')
  expect(await redis.pttl(key)).toBeGreaterThan(60_000)
  const other = newKey()
  await redis.publish(other, 5, 'whole', 0, 'a', '1')
  expect(await redis.pttl(other)).toBe(-1)
})
