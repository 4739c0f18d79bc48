import type { RedisClient, RedisKeys } from '@tally/read-models'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../test/support/database.ts'
import { testRedis } from '../../test/support/redis.ts'
import { keepPublished, publishKeys } from './publish.ts'
import { publishedKey, readCopies } from './redisCopy.ts'
import { createKey, revokeKey } from './store.ts'
import { addOrganization } from './testing.ts'

let database: TestDatabase
let redis: RedisClient
let keys: RedisKeys

beforeAll(async () => {
  database = await freshDatabase()
  ;({ redis, keys } = await testRedis())
})
afterAll(async () => {
  redis.disconnect()
  await database.drop()
})

test('every good or revoked key has its copy, however many there are; an expired one has none', async () => {
  const organizationId = await addOrganization(database.db)
  const wanted = {
    organizationId,
    name: 'till',
    scopes: ['orders:read' as const],
    eventId: null,
    expiresAt: null,
  }
  const ids: string[] = []
  for (let i = 0; i < 450; i++) ids.push((await createKey(database.db, wanted)).stored.key.keyId)
  const expired = await createKey(database.db, { ...wanted, expiresAt: Date.now() - 1 })
  const revoked = await revokeKey(database.db, ids[0] ?? '')
  expect(await publishKeys(database.db, redis, keys)).toBe(450)
  const copies = await readCopies(redis, keys, [...ids, expired.stored.key.keyId])
  expect([...copies.keys()]).toEqual(ids)
  expect(copies.get(revoked.key.keyId)).toEqual(revoked)
})

test('copies that Redis lost are back within a second', async () => {
  const organizationId = await addOrganization(database.db)
  const wanted = {
    organizationId,
    name: 'till',
    scopes: ['orders:read' as const],
    eventId: null,
    expiresAt: null,
  }
  const { keyId } = (await createKey(database.db, wanted)).stored.key
  const logger = { debug() {}, info() {}, warn() {} }
  const stop = keepPublished({ db: database.db, redis, keys, logger })
  const isThere = () => readCopies(redis, keys, [keyId]).then(copies => copies.has(keyId))
  try {
    await vi.waitFor(async () => expect(await isThere()).toBe(true), 3_000)
    await redis.del(publishedKey(keys), keys.apiKey(keyId))
    await expect(isThere()).rejects.toThrow('lost copies')
    await vi.waitFor(async () => expect(await isThere()).toBe(true), 1_000)
  } finally {
    await stop()
  }
})
