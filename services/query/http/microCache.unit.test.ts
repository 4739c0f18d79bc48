import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { microCache } from './microCache.ts'

test('an entry is dropped within 20 ms', async () => {
  const cache = microCache<string, number>()
  cache().set('key', 1)
  expect(cache().get('key')).toBe(1)
  await sleep(20)
  expect(cache().get('key')).toBeUndefined()
  expect(cache().set('key', 2)).toBe(cache())
})
