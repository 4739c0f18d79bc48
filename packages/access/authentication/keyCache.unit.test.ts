import { expect, test, vi } from 'vitest'
import type { ApiKey, StoredKey } from '../keys/apiKey.ts'
import { continues, createKeyCache, type Position } from './keyCache.ts'
import type { Found, KeySource } from './keySource.ts'

const good: StoredKey = { key: { keyId: 'k', revokedAt: null } as ApiKey, secretSha256: Buffer.alloc(32) }
const revoked: StoredKey = { ...good, key: { ...good.key, revokedAt: 1 } }

/** A cache whose look-ups are answered by the test. */
function open() {
  const lookUps: ((found: StoredKey | undefined) => void)[] = []
  const source: KeySource = {
    read: () => {
      const askedMs = performance.now()
      return new Promise<Found>(resolve =>
        lookUps.push(found => resolve({ keys: new Map(found && [['k', found]]), askedMs, from: 'postgres' })),
      )
    },
    copy() {},
  }
  const cache = createKeyCache(source)
  cache.follow({ beganMs: performance.now(), isContinued: false, changed: [] })
  return {
    cache,
    lookUps,
    poll: (...changed: StoredKey[]) =>
      cache.follow({ beganMs: performance.now(), isContinued: true, changed }),
  }
}
const turn = () => new Promise(setImmediate)

test.each([
  ['good', good],
  ['unknown', undefined],
])(
  'a look-up that returns a key as %s does not undo a change that a poll reported meanwhile',
  async (_, old) => {
    const { cache, lookUps, poll } = open()
    const asked = cache.get('k')
    await turn()
    poll(revoked)
    lookUps[0]?.(old)
    expect(await asked).toBe(revoked)
    expect(cache.get('k')).toBe(revoked)
  },
)

test('an unknown key is known as soon as a poll reports it', async () => {
  const { cache, lookUps, poll } = open()
  const asked = cache.get('k')
  await turn()
  lookUps[0]?.(undefined)
  expect(await asked).toBeUndefined()
  poll(good)
  expect(cache.get('k')).toBe(good)
})

test('keys that this process never used stay out of its cache', async () => {
  const { cache, poll } = open()
  poll(good)
  expect(cache.get('k')).toBeInstanceOf(Promise)
})

test('a poll that does not continue the one before empties the cache', async () => {
  const { cache, poll, lookUps } = open()
  const asked = [cache.get('k'), cache.get('unknown')]
  await turn()
  lookUps[0]?.(good)
  await Promise.all(asked)
  poll()
  expect([cache.get('k'), cache.get('unknown')]).toEqual([good, undefined])
  cache.follow({ beganMs: performance.now(), isContinued: false, changed: [] })
  for (const keyId of ['k', 'unknown']) expect(cache.get(keyId)).toBeInstanceOf(Promise)
})

test('a key in use is looked up before a flood of unknown ids; two batches at most are asked at once', async () => {
  const nothing: Found = { keys: new Map(), askedMs: Number.NEGATIVE_INFINITY, from: 'redis' }
  const flooded = Promise.withResolvers<Found>()
  const read = vi.fn((_: string[]) => flooded.promise)
  read.mockResolvedValueOnce({ ...nothing, keys: new Map([['k', good]]) })
  const cache = createKeyCache({ read, copy() {} })
  await cache.get('k')
  const asked = Array.from({ length: 2_500 }, (_, id) => cache.get(`${id}`))
  void cache.get('k')
  for (let turns = 0; turns < 3; turns++) await turn()
  const batches = () => read.mock.calls.slice(1).map(([ids]) => `${ids.length} from ${ids[0]}`)
  expect(batches()).toEqual(['1000 from k', '1000 from 999'])
  flooded.resolve(nothing)
  await Promise.all(asked)
  expect(batches()[2]).toBe('501 from 1999')
})

const before: Position = { xmin: 10, deletions: 2, server: '2026-11-22 13:00:00+00' }

test.each([
  ['nothing happened', before, true],
  ['transactions went on', { ...before, xmin: 11 }, true],
  ['keys were deleted', { ...before, deletions: 3 }, false],
  [
    'Postgres restarted, maybe without its last commits',
    { ...before, server: '2026-11-22 14:00:00+00' },
    false,
  ],
  ['Postgres is in an older state', { ...before, xmin: 9 }, false],
])('%s: the cached keys are still valid: %s', (_, now, holds) => {
  expect(continues(before, now)).toBe(holds)
})
