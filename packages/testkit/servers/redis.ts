import { randomBytes } from 'node:crypto'
import { type AccessKeys, type AccessRedis, accessKeys, accessScripts } from '@tally/access'
import { type ReadModelRedis, type RedisKeys, readModelScripts, redisKeys } from '@tally/read-models'
import { parseSentinels } from '@tally/runtime'
import { openRedis, type RedisOptions } from '@tally/storage'
import { afterAll, expect, inject, vi } from 'vitest'

export type WholeRedis = ReadModelRedis & AccessRedis
export type AllKeys = RedisKeys & AccessKeys

/** A client with every script of Tally; `url`: what the setting REDIS_URL takes. */
export const openWholeRedis = (url: string, options: RedisOptions): WholeRedis => {
  const nodes = parseSentinels(url) ? [url] : url.split(',')
  return openRedis(nodes, options, { ...readModelScripts, ...accessScripts })
}

/** Longer than any test: no document expires. */
const quietMs = 86_400_000

/** Every key that Tally has under a prefix. */
export const allKeys = (prefix: string): AllKeys => ({ ...redisKeys(prefix, quietMs), ...accessKeys(prefix) })

/** A connection to the run's Redis, and keys under a prefix of its own. Close it with `disconnect()`. */
export async function testRedis(): Promise<{ redis: WholeRedis; keys: AllKeys }> {
  const redis = openWholeRedis(inject('servers').redisUrl, {
    name: 'test',
    commandTimeoutMs: 5_000,
    onError: () => {},
  })
  await vi.waitFor(() => expect(redis.status).toBe('ready'), 30_000)
  return { redis, keys: allKeys(`test-${randomBytes(6).toString('hex')}`) }
}

/** The same for all tests of a file, closed after them. Call it at the top level of the file. */
export async function redisOfFile(): ReturnType<typeof testRedis> {
  const opened = await testRedis()
  afterAll(() => opened.redis.disconnect())
  return opened
}
