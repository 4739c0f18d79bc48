import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { copyKey } from '../copies/redisCopy.ts'
import { revokeKey } from '../keys/store.ts'
import { makeToken } from '../keys/token.ts'
import { everyProcess, openAuthenticatorStage, timed } from '../testing/authenticator.ts'
import { AuthenticationUnavailable } from './keySource.ts'

let stage: Awaited<ReturnType<typeof openAuthenticatorStage>>
beforeAll(async () => {
  stage = await openAuthenticatorStage()
})
afterEach(() => stage.renew())
afterAll(() => stage.close())

test('with Postgres gone, Redis tells good keys from unknown and revoked ones', async () => {
  const { token, stored } = await stage.create()
  const revoked = await stage.create()
  await revokeKey(stage.db, revoked.stored.key.keyId)
  const authenticator = stage.open()
  await stage.published()
  await stage.postgresRelay.cut()
  expect(await authenticator.authenticate(token)).toEqual({ ...stored.key, lastUsedAt: null })
  expect(await authenticator.authenticate(revoked.token)).toBeUndefined()
  expect(await authenticator.authenticate(makeToken().token)).toBeUndefined()
})

test('when Postgres hangs, only the first request waits, and not for long', async () => {
  const [first, ...others] = [
    await stage.create(),
    await stage.create(),
    await stage.create(),
    await stage.create(),
  ]
  const authenticator = stage.open()
  expect(await authenticator.authenticate(makeToken().token)).toBeUndefined()
  await stage.published()
  stage.postgresRelay.stall()
  const patient = await timed(() => authenticator.authenticate(first.token))
  expect(patient.result).toBeDefined()
  const quick: number[] = []
  for (const { token } of others) {
    const { result, tookMs } = await timed(() => authenticator.authenticate(token))
    expect(result).toBeDefined()
    quick.push(tookMs)
  }
  // One of them may be the probe that waits again, or meet a busy machine; one without any wait proves the rule.
  expect(Math.min(...quick)).toBeLessThan(patient.tookMs / 2)
})

test('a process that saw a key revoked never takes it for good again, whatever an old copy says', async () => {
  const { token, stored } = await stage.create()
  const authenticator = stage.open()
  await stage.published()
  await copyKey(stage.redis, stage.keys(), stored)
  const old = await stage.redis.get(stage.keys().apiKey(stored.key.keyId))
  await revokeKey(stage.db, stored.key.keyId)
  expect(await authenticator.authenticate(token)).toBeUndefined()
  await stage.postgresRelay.cut()
  const until = performance.now() + 1_200
  await vi.waitFor(
    async () => {
      await stage.redis.set(stage.keys().apiKey(stored.key.keyId), old ?? '')
      expect(await authenticator.authenticate(token)).toBeUndefined()
      expect(performance.now()).toBeGreaterThan(until)
    },
    { timeout: 30_000, interval: 20 },
  )
})

test('when Postgres is back, what it says counts again without a restart', async () => {
  const { token, stored } = await stage.create()
  const authenticator = stage.open()
  await stage.published()
  await stage.postgresRelay.cut()
  expect(await authenticator.authenticate(token)).toBeDefined()
  await revokeKey(stage.db, stored.key.keyId)
  await stage.postgresRelay.mend()
  await everyProcess([authenticator], token, key => key === undefined)
})

test('with Redis gone, Postgres alone is enough', async () => {
  const { token } = await stage.create()
  await stage.redisRelay.cut()
  expect(await stage.open().authenticate(token)).toBeDefined()
})

test('with both gone nobody can tell, but a mistyped token is refused all the same', async () => {
  const { token } = await stage.create()
  const authenticator = stage.open()
  await stage.published()
  await Promise.all([stage.postgresRelay.cut(), stage.redisRelay.cut()])
  await expect(authenticator.authenticate(token)).rejects.toThrow(AuthenticationUnavailable)
  expect(authenticator.authenticate(`${token.slice(0, -1)}-`)).toBeUndefined()
  await Promise.all([stage.postgresRelay.mend(), stage.redisRelay.mend()])
  await vi.waitFor(async () => expect(await authenticator.authenticate(token)).toBeDefined(), 30_000)
})

test('with Postgres gone and the copies lost, an unknown key is not refused: nobody can tell', async () => {
  const { token } = await stage.create()
  const authenticator = stage.open()
  await stage.published()
  await stage.postgresRelay.cut()
  await stage.redis.del(stage.keys().apiKeysCopied)
  await expect(authenticator.authenticate(makeToken().token)).rejects.toThrow(AuthenticationUnavailable)
  expect(await authenticator.authenticate(token)).toBeDefined()
})

test('a Redis that comes back without some copies has all of them again', async () => {
  const { stored } = await stage.create()
  const copy = stage.keys().apiKey(stored.key.keyId)
  stage.open()
  await stage.published()
  await stage.redisRelay.cut()
  await stage.redis.del(copy)
  await stage.redisRelay.mend()
  await vi.waitFor(async () => expect(await stage.redis.exists(copy)).toBe(1), 30_000)
})

test('a key that is read from Postgres has its copy at once', async () => {
  const authenticator = stage.open()
  await stage.published()
  const { stored, token } = await stage.create()
  expect(await stage.redis.exists(stage.keys().apiKey(stored.key.keyId))).toBe(0)
  expect(await authenticator.authenticate(token)).toBeDefined()
  const copy = stage.keys().apiKey(stored.key.keyId)
  await vi.waitFor(async () => expect(await stage.redis.exists(copy)).toBe(1), 30_000)
})
