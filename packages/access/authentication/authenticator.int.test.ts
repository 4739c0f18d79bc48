import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { findKeys, revokeKey } from '../keys/store.ts'
import { formatToken, makeToken } from '../keys/token.ts'
import { everyProcess, openAuthenticatorStage, timed } from '../testing/authenticator.ts'
import { followKeys } from './keyChanges.ts'

let stage: Awaited<ReturnType<typeof openAuthenticatorStage>>
beforeAll(async () => {
  stage = await openAuthenticatorStage()
})
afterEach(() => stage.renew())
afterAll(() => stage.close())

test('a good token is its key, and the process then has the answer at hand', async () => {
  const { stored, token } = await stage.create()
  const authenticator = stage.open()
  expect(await authenticator.authenticate(token)).toEqual(stored.key)
  expect(authenticator.authenticate(token)).toEqual(stored.key)
})

test('an absent, malformed, mistyped or wrong token is nobody', async () => {
  const { stored, token } = await stage.create()
  const authenticator = stage.open()
  expect(authenticator.authenticate(undefined)).toBeUndefined()
  expect(authenticator.authenticate('')).toBeUndefined()
  expect(
    authenticator.authenticate(`${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`),
  ).toBeUndefined()
  const other = makeToken()
  expect(await authenticator.authenticate(other.token)).toBeUndefined()
  const wrongSecret = formatToken({ keyId: stored.key.keyId, secret: other.secret })
  expect(await authenticator.authenticate(wrongSecret)).toBeUndefined()
})

test('a new key works in every process within 1 second, also where it was asked for before', async () => {
  const { stored, token } = await stage.create()
  const row = await stage.db
    .deleteFrom('api_keys')
    .where('key_id', '=', stored.key.keyId)
    .returningAll()
    .executeTakeFirstOrThrow()
  const processes = [stage.open(), stage.open()]
  for (const one of processes) expect(await one.authenticate(token)).toBeUndefined()
  await stage.db
    .insertInto('api_keys')
    .values({
      ...row,
      created_at: new Date(row.created_at).toISOString(),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
    })
    .execute()
  const { tookMs } = await timed(() => everyProcess(processes, token, key => key !== undefined))
  expect(tookMs).toBeLessThan(1_000)
})

test('a revoked key is refused in every process within 1 second, while it is in use', async () => {
  const { stored, token } = await stage.create()
  const processes = [stage.open(), stage.open()]
  for (const one of processes) expect(await one.authenticate(token)).toBeDefined()
  await revokeKey(stage.db, stored.key.keyId)
  const { tookMs } = await timed(() => everyProcess(processes, token, key => key === undefined))
  expect(tookMs).toBeLessThan(1_000)
})

test('a key that was long not asked for is never judged by its old record', async () => {
  const { stored, token } = await stage.create()
  const authenticator = stage.open()
  expect(await authenticator.authenticate(token)).toBeDefined()
  await revokeKey(stage.db, stored.key.keyId)
  const askedAt = performance.now() + 950
  await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(askedAt), {
    timeout: 30_000,
    interval: 20,
  })
  expect(await authenticator.authenticate(token)).toBeUndefined()
})

test('a key in use is looked up once, however long it is in use, and no request waits for it again', async () => {
  const { token } = await stage.create()
  const authenticator = stage.open()
  await stage.published()
  await followed()
  await authenticator.authenticate(token)
  const before = stage.lookUps()
  const until = performance.now() + 2_000
  await vi.waitFor(
    () => {
      expect(authenticator.authenticate(token)).toMatchObject({ name: 'till' })
      expect(performance.now()).toBeGreaterThan(until)
    },
    { timeout: 30_000, interval: 10 },
  )
  expect(stage.lookUps()).toBe(before)
})

test('a key that was deleted is refused within 1 second', async () => {
  const { stored, token } = await stage.create()
  const authenticator = stage.open()
  expect(await authenticator.authenticate(token)).toBeDefined()
  await stage.db.deleteFrom('api_keys').where('key_id', '=', stored.key.keyId).execute()
  const { tookMs } = await timed(() => everyProcess([authenticator], token, key => key === undefined))
  expect(tookMs).toBeLessThan(1_000)
})

test('of two keys that are revoked at once both are refused within 1 second, whichever is committed first', async () => {
  const [one, two] = [await stage.create(), await stage.create()]
  const authenticator = stage.open()
  for (const { token } of [one, two]) expect(await authenticator.authenticate(token)).toBeDefined()
  await followed()
  let second = Promise.resolve() as Promise<unknown>
  await stage.db.transaction().execute(async tx => {
    await revokeKey(tx, one.stored.key.keyId)
    second = revokeKey(stage.db, two.stored.key.keyId)
    // Polls run while the first is not committed.
    await followed()
    await followed()
  })
  await second
  const { tookMs } = await timed(async () => {
    for (const { token } of [one, two]) await everyProcess([authenticator], token, key => key === undefined)
  })
  expect(tookMs).toBeLessThan(1_000)
})

/** Waits until the polls that run now are over: those of another begin once every 0.3 s. */
async function followed(): Promise<void> {
  const polls: unknown[] = []
  const stop = followKeys({ db: stage.db, logger: stage.logger, onChanges: poll => polls.push(poll) })
  await vi.waitFor(() => expect(polls.length).toBeGreaterThan(2), 30_000)
  await stop()
}

test('a key is refused from the millisecond on in which it expires', async () => {
  const expiresAt = Date.now() + 3_600_000
  const { token } = await stage.create({ expiresAt })
  let nowMs = expiresAt - 1
  const authenticator = stage.open(() => nowMs)
  expect(await authenticator.authenticate(token)).toBeDefined()
  nowMs = expiresAt
  expect(authenticator.authenticate(token)).toBeUndefined()
})

test('look-ups of one turn of the event loop are one statement, each id once', async () => {
  const authenticator = stage.open()
  await stage.published()
  const before = stage.lookUps()
  const tokens = Array.from({ length: 50 }, () => makeToken().token)
  await Promise.all([...tokens, ...tokens].map(token => authenticator.authenticate(token)))
  expect(stage.lookUps()).toBe(before + 1)
})

test('a flood of wrong tokens does not slow a good one', async () => {
  const { token } = await stage.create()
  const authenticator = stage.open()
  expect(await authenticator.authenticate(token)).toBeDefined()
  const flood = Array.from({ length: 20_000 }, () => makeToken().token)
  const wrong = Promise.all(flood.map(one => authenticator.authenticate(one)))
  expect(await authenticator.authenticate(token)).toMatchObject({ name: 'till' })
  const { token: fresh } = await stage.create()
  expect(await authenticator.authenticate(fresh)).toBeDefined()
  expect(new Set(await wrong)).toEqual(new Set([undefined]))
})

test('the use of a key is in Postgres, cut to the minute, when the process has closed', async () => {
  const { stored, token } = await stage.create()
  const { keyId } = stored.key
  const minute = Date.UTC(2027, 0, 1, 20, 15)
  const authenticator = stage.open(() => minute + 42_123)
  expect(await authenticator.authenticate(token)).toBeDefined()
  authenticator.used(keyId)
  await authenticator.close()
  expect((await findKeys(stage.db, [keyId])).get(keyId)?.key.lastUsedAt).toBe(minute)
})
