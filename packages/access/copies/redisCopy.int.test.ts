import { testRedis } from '@tally/testkit/servers/redis'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { revokeKey } from '../keys/store.ts'
import { openCopyHarness } from '../test/copies.ts'
import { copyKey, readCopies } from './redisCopy.ts'

const { db, organizationId, redis, keys, create, close } = await openCopyHarness()
afterAll(close)

test('the first copy that a process writes shares a pipeline with other commands, and each gets its own reply', async () => {
  // A client that has not written a copy before.
  const { redis, keys } = await testRedis()
  onTestFinished(() => redis.disconnect())
  const { stored } = await create()
  const key = keys.organization(organizationId)
  await redis.hset(key, { before: 'b', after: 'a' })
  const before = redis.hget(key, 'before')
  const copied = copyKey(redis, keys, stored)
  const after = redis.hget(key, 'after')
  await copied
  expect([await before, await after]).toEqual(['b', 'a'])
  expect((await readCopies(redis, keys, [stored.key.keyId])).get(stored.key.keyId)).toEqual({
    ...stored,
    key: { ...stored.key, lastUsedAt: null },
  })
})

test('a revoked copy is never overwritten by an older one, and contains no secret', async () => {
  const { stored, token } = await create()
  const revoked = await revokeKey(db, stored.key.keyId)
  const copy = async () => JSON.parse((await redis.get(keys.apiKey(stored.key.keyId))) ?? 'null')
  await copyKey(redis, keys, stored)
  expect(await copy()).toMatchObject({ revokedAt: null })
  await copyKey(redis, keys, revoked)
  await copyKey(redis, keys, stored)
  expect(await copy()).toMatchObject({ revokedAt: revoked.key.revokedAt })
  expect(JSON.stringify(await copy())).not.toContain(token.slice(19, 62))
})
