import { randomBytes } from 'node:crypto'
import { openRedis, type RedisClient, type RedisKeys, redisKeys } from '@tally/read-models'
import { expect, inject, vi } from 'vitest'
import type {} from '../../infra/local/test-servers.ts'

/** A connection to the run's Redis, and keys under a prefix of its own. Close it with `disconnect()`. */
export async function testRedis(): Promise<{ redis: RedisClient; keys: RedisKeys }> {
  const redis = openRedis(inject('servers').redisUrl.split(','), {
    name: 'test',
    commandTimeoutMs: 5_000,
    onError: () => {},
  })
  await vi.waitFor(() => expect(redis.status).toBe('ready'), 30_000)
  return { redis, keys: redisKeys(`test-${randomBytes(6).toString('hex')}`) }
}
