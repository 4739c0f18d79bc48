import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPostgres } from '@tally/schema'
import { addKey, addOrganization } from '@tally/testkit/records/rows'
import { freshDatabase } from '@tally/testkit/servers/database'
import { allKeys, openWholeRedis } from '@tally/testkit/servers/redis'
import { openRelay } from '@tally/testkit/servers/relay'
import { expect, inject, vi } from 'vitest'
import { type Authenticator, openAuthenticator } from '../authentication/authenticator.ts'
import type { NewKey } from '../keys/store.ts'
import type { AccessKeys } from '../redis.ts'

const logger = { debug: () => {}, info: () => {}, warn: () => {} }

/**
 * A database with an organization, and the authenticators of query processes that reach Postgres and Redis through
 * relays, so that a test can cut off either. Call `renew` after each test.
 */
export async function openAuthenticatorHarness() {
  const database = await freshDatabase()
  const organizationId = await addOrganization(database.db)
  const postgresRelay = await openRelay(database.url)
  const redisRelay = await openRelay(inject('servers').redisUrl)
  let lookUps = 0
  const db = openPostgres(postgresRelay.through(database.url), {
    name: 'test',
    max: 5,
    statementTimeoutMs: 1_000,
    onError: () => {},
  }).withPlugin({
    transformQuery({ node }) {
      if (JSON.stringify(node).includes('where key_id = any(')) lookUps++
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const options = { name: 'test', commandTimeoutMs: 100, onError: () => {} }
  const redis = openWholeRedis(redisRelay.through(inject('servers').redisUrl), options)
  const direct = openWholeRedis(inject('servers').redisUrl, { ...options, commandTimeoutMs: 60_000 })
  await vi.waitFor(() => expect([redis.status, direct.status]).toEqual(['ready', 'ready']), 120_000)
  const opened: Authenticator[] = []
  let keys: AccessKeys = newKeys()

  return {
    logger,
    /** Connected directly, not through the relay. */
    db: database.db,
    redis: direct,
    postgresRelay,
    redisRelay,
    keys: () => keys,
    open(now?: () => number): Authenticator {
      const authenticator = openAuthenticator({ db, redis, keys, logger, ...(now && { now }) })
      opened.push(authenticator)
      return authenticator
    },
    /** How many look-ups of keys the processes have sent to Postgres. */
    lookUps: () => lookUps,
    create: (more: Partial<NewKey> = {}) => addKey(database.db, organizationId, more),
    /** Waits until Redis has the copies of all keys. */
    async published(): Promise<void> {
      await vi.waitFor(async () => expect(await direct.get(keys.apiKeysCopied)).not.toBeNull(), 120_000)
    },
    async renew(): Promise<void> {
      await Promise.all([postgresRelay.mend(), redisRelay.mend()])
      await vi.waitFor(() => expect(redis.status).toBe('ready'), 120_000)
      await Promise.all(opened.splice(0).map(one => one.close()))
      keys = newKeys()
    },
    async close(): Promise<void> {
      await db.destroy()
      redis.disconnect()
      direct.disconnect()
      await Promise.all([postgresRelay.close(), redisRelay.close(), database.drop()])
    },
  }
}

/**
 * Waits until every process answers for this token as `is` requires, and returns for how many waits of 10 ms: on a busy
 * machine a wait takes longer, as all that it waits for does.
 */
export async function everyProcess(processes: Authenticator[], token: string, is: (key: unknown) => boolean) {
  for (let waits = 0; ; waits += 1) {
    const keys = await Promise.all(processes.map(one => one.authenticate(token)))
    if (keys.every(is)) return waits
    expect(waits).toBeLessThan(10_000)
    await sleep(10)
  }
}

/** The result of `work`, and how long it took. */
export async function timed<T>(work: () => T | Promise<T>): Promise<{ result: T; tookMs: number }> {
  const began = performance.now()
  const result = await work()
  return { result, tookMs: performance.now() - began }
}

const newKeys = () => allKeys(`test-${randomBytes(6).toString('hex')}`)
