import { randomBytes } from 'node:crypto'
import { type AccessKeys, type AccessRedis, accessKeys, accessScripts } from '@tally/access'
import {
  openRedis,
  parseSentinels,
  type RedisOptions,
  type ScriptCalls,
  type ScriptSet,
} from '@tally/platform'
import { type ReadModelRedis, type RedisKeys, readModelScripts, redisKeys } from '@tally/publication'
import { afterAll, expect, inject, vi } from 'vitest'

export type WholeRedis = ReadModelRedis & AccessRedis
export type AllKeys = RedisKeys & AccessKeys

/** A client with every script of the packages, and `scripts`; `url`: what the setting REDIS_URL takes. */
export const openWholeRedis = <Scripts extends ScriptSet = Record<never, never>>(
  url: string,
  options: RedisOptions,
  scripts?: Scripts,
): WholeRedis & ScriptCalls<Scripts> => {
  const nodes = parseSentinels(url) ? [url] : url.split(',')
  const all: ScriptSet = { ...readModelScripts, ...accessScripts, ...scripts }
  return openRedis(nodes, { ...options, scripts: all }) as WholeRedis & ScriptCalls<Scripts>
}

/** Longer than any test: no document expires. */
const quietMs = 86_400_000

/** Every key that Tally has under a prefix. */
export const allKeys = (prefix: string): AllKeys => ({ ...redisKeys(prefix, quietMs), ...accessKeys(prefix) })

/** A connection to the run's Redis with a service's `scripts` and its own prefix of keys; end it by `disconnect()`. */
export async function testRedis<Scripts extends ScriptSet = Record<never, never>>(
  scripts?: Scripts,
): Promise<{ redis: WholeRedis & ScriptCalls<Scripts>; keys: AllKeys; prefix: string }> {
  const options = { name: 'test', commandTimeoutMs: 60_000, onError: () => {} }
  const redis = openWholeRedis(inject('servers').redisUrl, options, scripts)
  await vi.waitFor(() => expect(redis.status).toBe('ready'), 120_000)
  const prefix = `test-${randomBytes(6).toString('hex')}`
  return { redis, keys: allKeys(prefix), prefix }
}

/** The same for all tests of a file, closed after them. Call it at the top level of the file. */
export async function redisOfFile<Scripts extends ScriptSet = Record<never, never>>(
  scripts?: Scripts,
): ReturnType<typeof testRedis<Scripts>> {
  const opened = await testRedis(scripts)
  afterAll(() => opened.redis.disconnect())
  return opened
}
