import type { WholeRedis } from '@tally/testkit/servers/redis'
import { afterAll, expect, test, vi } from 'vitest'
import { revokeKey } from '../keys/store.ts'
import { openCopyHarness } from '../test/copies.ts'
import { keepPublished, publishKeys } from './publish.ts'
import { copyKey, readCopies } from './redisCopy.ts'

const { db, redis, keys, create, close } = await openCopyHarness()
afterAll(close)

test('every valid or revoked key has a copy, however many there are; an expired one has none', async () => {
  const ids: string[] = []
  for (let i = 0; i < 450; i++) ids.push((await create()).stored.key.keyId)
  const expired = await create({ expiresAt: Date.now() - 1 })
  const revoked = await revokeKey(db, ids[0] ?? '')
  expect(await publishKeys(db, redis, keys)).toBe(450)
  const copies = await readCopies(redis, keys, [...ids, expired.stored.key.keyId])
  expect([...copies.keys()]).toEqual(ids)
  expect(copies.get(revoked.key.keyId)).toEqual(revoked)
})

test('copies that Redis lost are soon written again', async () => {
  const { keyId } = (await create()).stored.key
  const logger = { debug() {}, info() {}, warn() {} }
  const published = keepPublished({ db, redis, keys, logger })
  const areWhole = async () => expect(await redis.get(keys.apiKeysCopied)).not.toBeNull()
  try {
    await vi.waitFor(areWhole, 120_000)
    await redis.del(keys.apiKeysCopied, keys.apiKeysEpoch, keys.apiKey(keyId))
    await vi.waitFor(areWhole, 120_000)
    expect((await readCopies(redis, keys, [keyId])).has(keyId)).toBe(true)
  } finally {
    await published.close()
  }
})

test('copies are not marked complete if some were lost while others were written', async () => {
  for (let i = 0; i < 250; i++) await create()
  const copied: string[] = []
  const losing: WholeRedis = Object.assign(Object.create(redis), {
    async putApiKey(key: string, ...rest: [string, string, string, '0' | '1', number, number]) {
      if (copied.push(key) === 210)
        await redis.del(keys.apiKeysEpoch, keys.apiKeysCopied, ...copied.slice(0, 200))
      return redis.putApiKey(key, ...rest)
    },
  })
  await expect(publishKeys(db, losing, keys)).rejects.toThrow('Redis lost copies')
  await expect(readCopies(redis, keys, ['unknown'])).rejects.toThrow('lost copies')
  await publishKeys(db, redis, keys)
  expect((await readCopies(redis, keys, ['unknown'])).size).toBe(0)
})

test('a key or a revocation that Postgres lost is not used after the next round', async () => {
  const lost = (await create()).stored.key.keyId
  const { stored } = await create()
  const { keyId } = stored.key
  await publishKeys(db, redis, keys)
  await copyKey(redis, keys, await revokeKey(db, keyId))
  expect((await readCopies(redis, keys, [lost])).size).toBe(1)

  await db.deleteFrom('api_keys').where('key_id', '=', lost).execute()
  await db.updateTable('api_keys').set({ revoked_at: null }).where('key_id', '=', keyId).execute()
  await redis.del(keys.apiKeysRound)
  await publishKeys(db, redis, keys)
  const copies = await readCopies(redis, keys, [lost, keyId])
  expect([...copies.values()].map(({ key }) => [key.keyId, key.revokedAt])).toEqual([[keyId, null]])
})

test('a round that read a key before its revocation keeps the revoked copy', async () => {
  const { stored } = await create()
  const round = await redis.beginCopies(keys.apiKeysRound, keys.apiKeysCopiedRound)
  await copyKey(redis, keys, await revokeKey(db, stored.key.keyId))
  await copyKey(redis, keys, stored, round)
  const copy = (await readCopies(redis, keys, [stored.key.keyId])).get(stored.key.keyId)
  expect(copy?.key.revokedAt).not.toBeNull()
})
