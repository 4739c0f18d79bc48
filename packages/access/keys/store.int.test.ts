import { randomBytes, randomUUID } from 'node:crypto'
import type { EventId, OrganizationId } from '@tally/contract'
import { addEvent, addOrganization } from '@tally/testkit/records/rows'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { expect, test } from 'vitest'
import { type ApiKey, ApiKeyError, hashSecret, parseToken, TooManyKeysError } from './apiKey.ts'
import { rotateKeyWithin } from './ownKeys.ts'
import {
  createKey,
  createKeyWithin,
  findKeys,
  listActiveKeys,
  listEndedKeys,
  listKeys,
  mostActiveKeys,
  mostKeysADay,
  type NewKey,
  revokeKey,
  touchKeys,
} from './store.ts'

const database = await databaseOfFile()

const organization = () => addOrganization(database.db)

function wanted(organizationId: OrganizationId, more: Partial<NewKey> = {}): NewKey {
  return { organizationId, name: 'till 4', scopes: ['events:read'], eventId: null, expiresAt: null, ...more }
}

test('a key is stored with the SHA-256 of its secret, and its token is not stored', async () => {
  const organizationId = await organization()
  const expiresAt = Date.now() + 60_000
  const { stored, token } = await createKey(database.db, wanted(organizationId, { expiresAt }))
  const { keyId, secret } = parseToken(token) ?? {}
  expect(stored.key).toEqual({
    ...wanted(organizationId, { expiresAt }),
    keyId,
    createdAt: expect.any(Number),
    revokedAt: null,
    lastUsedAt: null,
  })
  expect(Math.abs(stored.key.createdAt - Date.now())).toBeLessThan(5_000)
  expect(stored.secretSha256).toEqual(hashSecret(secret ?? ''))
  const rows = await database.db.selectFrom('api_keys').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain(secret)
})

async function allOf(organizationId: OrganizationId): Promise<ApiKey[]> {
  const all: ApiKey[] = []
  for await (const keys of listKeys(database.db, organizationId)) all.push(...keys)
  return all
}

/** Inserts copies of a key as they may have been made over the years. */
async function copies(keyId: string, count: number, createdAt: Date, revokedAt: Date | null = null) {
  const row = await database.db
    .selectFrom('api_keys')
    .selectAll()
    .where('key_id', '=', keyId)
    .executeTakeFirstOrThrow()
  const { changed_by: _, ...fields } = row
  const times = {
    created_at: createdAt.toISOString(),
    revoked_at: revokedAt?.toISOString() ?? null,
    expires_at: null,
    last_used_at: null,
  }
  const rows = Array.from({ length: count }, () => ({
    ...fields,
    ...times,
    key_id: randomBytes(6).toString('hex'),
  }))
  await database.db.insertInto('api_keys').values(rows).execute()
}
const rotate = ({ organizationId, keyId }: Pick<ApiKey, 'organizationId' | 'keyId'>, oldValidForMs = 0) =>
  database.db.transaction().execute(tx => rotateKeyWithin(tx, { organizationId, keyId, oldValidForMs }))
const yearAgo = new Date(Date.now() - 365 * 24 * 3_600_000)

test('an organization has at most 200 active keys, also if several are made at once; ended ones do not count', async () => {
  const organizationId = await organization()
  const make = () => createKey(database.db, wanted(organizationId))
  const { keyId } = (await make()).stored.key
  await copies(keyId, 300, yearAgo, new Date())
  await copies(keyId, mostActiveKeys - 3, yearAgo)
  const made = await Promise.allSettled([make(), make(), make(), make()])
  const refused = made.filter(({ status }) => status === 'rejected')
  const error = expect.any(TooManyKeysError)
  expect(refused.map(one => 'reason' in one && one.reason)).toEqual([error, error])
  expect(await listActiveKeys(database.db, organizationId)).toHaveLength(mostActiveKeys)
  await expect(rotate({ organizationId, keyId }, 60_000)).rejects.toThrow(
    'the organization has 200 active keys, the most allowed: revoke one first',
  )
  expect((await rotate({ organizationId, keyId })).made.token).toMatch(/^tally_/)
  expect(await listActiveKeys(database.db, organizationId)).toHaveLength(mostActiveKeys)
})

test('an organization makes at most 1,000 keys in 24 hours, whether they still work or not', async () => {
  const organizationId = await organization()
  const make = () => createKey(database.db, wanted(organizationId))
  const { keyId } = (await make()).stored.key
  await copies(keyId, 500, yearAgo, new Date())
  await copies(keyId, mostKeysADay - 2, new Date(), new Date())
  await make()
  await expect(make()).rejects.toThrow(
    'the organization made 1000 keys in 24 hours, the most allowed: try again later',
  )
})

test('ended keys are read page by page, newest first, without those of others', async () => {
  const organizationId = await organization()
  const { keyId } = (await createKey(database.db, wanted(organizationId))).stored.key
  for (let day = 1; day <= 5; day++) await copies(keyId, 2, new Date(day * 86_400_000), new Date())
  const other = (await createKey(database.db, wanted(await organization()))).stored.key
  await copies(other.keyId, 3, yearAgo, new Date())
  const page = (before?: string) => listEndedKeys(database.db, organizationId, { before, limit: 4 })
  const pages = [await page()]
  while (pages.at(-1)?.length === 4) pages.push(await page(pages.at(-1)?.at(-1)?.keyId))
  expect(pages.map(keys => keys.length)).toEqual([4, 4, 2])
  const days = pages.flat().map(({ createdAt }) => createdAt / 86_400_000)
  expect(days).toEqual([5, 5, 4, 4, 3, 3, 2, 2, 1, 1])
  expect(new Set(pages.flat().map(key => key.keyId)).size).toBe(10)
})

test('a key of an organization that is not known, or known only from its events, is refused', async () => {
  const unknown = randomUUID() as OrganizationId
  const sentence = `organization ${unknown} is not known yet: its record must arrive from Kafka first`
  await expect(createKey(database.db, wanted(unknown))).rejects.toThrow(new ApiKeyError(sentence))
  await addOrganization(database.db, { organizationId: unknown, version: 0 })
  await expect(createKey(database.db, wanted(unknown))).rejects.toThrow(new ApiKeyError(sentence))
  expect(await allOf(unknown)).toEqual([])
})

test('a key is bound only to an event of its own organization', async () => {
  const [mine, other] = [await organization(), await organization()]
  const [own, foreign] = [await addEvent(database.db, mine), await addEvent(database.db, other)]
  const { stored } = await createKey(database.db, wanted(mine, { eventId: own }))
  expect(stored.key.eventId).toBe(own)
  for (const eventId of [foreign, randomUUID() as EventId]) {
    await expect(createKey(database.db, wanted(mine, { eventId }))).rejects.toThrow(
      new ApiKeyError(`event ${eventId} is not known as one of organization ${mine}`),
    )
  }
})

test("only an organization's own keys are listed, oldest first", async () => {
  const [mine, other] = [await organization(), await organization()]
  const made = [
    await createKey(database.db, wanted(mine, { name: 'one' })),
    await createKey(database.db, wanted(mine, { name: 'two', scopes: ['events:read', 'orders:read'] })),
  ]
  await createKey(database.db, wanted(other))
  const listed = await allOf(mine)
  expect(listed.map(({ name }) => name).sort()).toEqual(['one', 'two'])
  expect(listed.map(({ createdAt }) => createdAt)).toEqual(listed.map(({ createdAt }) => createdAt).sort())
  expect(listed).toEqual(expect.arrayContaining(made.map(({ stored }) => stored.key)))
})

test('a second revocation keeps the first time; revoking an unknown key is an error', async () => {
  const { stored } = await createKey(database.db, wanted(await organization()))
  const first = await revokeKey(database.db, stored.key.keyId)
  expect(first.key.revokedAt).toBeGreaterThanOrEqual(stored.key.createdAt)
  expect(await revokeKey(database.db, stored.key.keyId)).toEqual(first)
  await expect(revokeKey(database.db, 'zzzzzzzzzzzz')).rejects.toThrow(
    new ApiKeyError('key zzzzzzzzzzzz is not known'),
  )
})

test('a key that is revoked, expired or of another organization has no successor', async () => {
  const organizationId = await organization()
  const one = (await createKey(database.db, wanted(organizationId))).stored.key
  const { key: revoked } = await revokeKey(database.db, one.keyId)
  const { stored } = await createKey(database.db, wanted(organizationId, { expiresAt: Date.now() }))
  for (const key of [revoked, stored.key])
    await expect(rotate(key)).rejects.toThrow(`key ${key.keyId} is revoked or expired: make a new one`)
  const strange = { ...stored.key, organizationId: await organization() }
  await expect(rotate(strange)).rejects.toThrow(`key ${strange.keyId} is not known`)
})

test('several keys are found in one look-up, unknown ones left out', async () => {
  const organizationId = await organization()
  const make = async () => (await createKey(database.db, wanted(organizationId))).stored
  const [one, two] = [await make(), await make()]
  const found = await findKeys(database.db, [one.key.keyId, 'zzzzzzzzzzzz', two.key.keyId])
  expect(found).toEqual(new Map([one, two].map(stored => [stored.key.keyId, stored])))
})

test('the last use is rounded down to the minute and never goes back', async () => {
  const { keyId } = (await createKey(database.db, wanted(await organization()))).stored.key
  const minute = Date.UTC(2026, 8, 4, 19, 31)
  const lastUse = async () => (await findKeys(database.db, [keyId])).get(keyId)?.key.lastUsedAt
  await touchKeys(database.db, new Map(Object.entries({ [keyId]: minute + 59_999, zzzzzzzzzzzz: minute })))
  expect(await lastUse()).toBe(minute)
  await touchKeys(database.db, new Map([[keyId, minute - 1]]))
  expect(await lastUse()).toBe(minute)
  await touchKeys(database.db, new Map([[keyId, minute + 60_000]]))
  expect(await lastUse()).toBe(minute + 60_000)
})

test('processes that store the use of the same keys concurrently do not deadlock', async () => {
  const organizations = [await organization(), await organization(), await organization()]
  const ids = await database.db.transaction().execute(async tx => {
    const made: string[] = []
    while (made.length < 500) {
      const organizationId = organizations[made.length % organizations.length] as OrganizationId
      made.push((await createKeyWithin(tx, wanted(organizationId))).stored.key.keyId)
    }
    return made
  })
  // At most as many at once as the pool has connections, because waiting for one is bounded.
  for (let round = 0; round < 20; round += 5) {
    const together = [1, 2, 3, 4, 5].map(number => {
      const order = number % 2 === 0 ? ids : ids.toReversed()
      return touchKeys(database.db, new Map(order.map(keyId => [keyId, (round + number) * 60_000])))
    })
    await Promise.all(together)
  }
  const found = await findKeys(database.db, ids)
  expect([...found.values()].map(({ key }) => key.lastUsedAt)).toEqual(ids.map(() => 20 * 60_000))
})
