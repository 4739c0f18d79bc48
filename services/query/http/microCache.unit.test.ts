import { setTimeout as after } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { briefMap } from './microCache.ts'

test('what is shared is forgotten soon after', async () => {
  const shared = briefMap<string, number>()
  shared().set('key', 1)
  expect(shared().get('key')).toBe(1)
  await after(20)
  expect(shared().get('key')).toBeUndefined()
  expect(shared().set('key', 2)).toBe(shared())
})
