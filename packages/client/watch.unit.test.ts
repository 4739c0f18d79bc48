import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { connect } from './client.ts'
import type { Answer } from './operations.ts'
import { fakeTally } from './test/fakeTally.ts'
import type { Reading, WatchOptions } from './watch.ts'

const eventId = '7c1e0f4e-0a52-4b43-9c0c-0c2f6a6f1a11'
let ends: AbortController
beforeEach(() => {
  vi.useFakeTimers()
  ends = new AbortController()
})
afterEach(() => {
  ends.abort()
  vi.useRealTimers()
})

/** Watches until the test ends, and collects what it yields. */
function watched(tally: ReturnType<typeof fakeTally>, options: WatchOptions = {}) {
  const readings: Reading<Answer<'getItemCounts'>>[] = []
  const client = connect({ url: 'http://tally.test', key: 'tally_x', fetch: tally.fetch })
  const watch = client.watch('getItemCounts', { eventId }, { signal: ends.signal, ...options })
  const ended = (async () => {
    for await (const reading of watch) readings.push(reading)
  })()
  ended.catch(() => {})
  return { readings, ended, last: () => readings.at(-1) }
}
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000)

test('the entity tag of the last answer is sent, and a 304 keeps that answer', async () => {
  const tally = fakeTally()
  const { readings } = watched(tally)
  await pass(12)
  expect(tally.asked.map(({ status }) => status)).toEqual([200, 304, 304])
  expect(tally.asked[1]?.headers.get('If-None-Match')).toBe('W/"1"')
  expect(readings.map(({ isChanged }) => isChanged)).toEqual([true, false, false])
  tally.state.sold = 5
  await pass(6)
  expect(readings.at(-1)).toMatchObject({ isChanged: true, answer: { data: [{ quantitySold: 5 }] } })
})

test('requests are not equally far apart, but 5 s on average', async () => {
  const tally = fakeTally()
  watched(tally)
  await pass(600)
  const gaps = tally.asked.slice(1).map(({ atMs }, index) => atMs - (tally.asked[index]?.atMs ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThan(4_400)
  expect(Math.max(...gaps)).toBeLessThan(5_600)
  expect(new Set(gaps.map(Math.round)).size).toBeGreaterThan(20)
  expect(tally.asked.length).toBeGreaterThan(115)
})

test.for([
  { watchers: 10, limit: 60, everyMs: 1_000 },
  { watchers: 10, limit: 60, everyMs: 5_000 },
  { watchers: 20, limit: 60, everyMs: 5_000 },
  { watchers: 3, limit: 20, everyMs: 2_000 },
])(
  '$watchers watchers every $everyMs ms under a limit of $limit get fewer than 1 % 429 in three minutes',
  async given => {
    const { watchers, limit, everyMs } = given
    for (let round = 0; round < 20; round++) {
      const tally = fakeTally({ limit })
      for (let index = 0; index < watchers; index++) watched(tally, { everyMs })
      await pass(180)
      const refused = tally.asked.filter(({ status }) => status === 429).length
      expect(refused / tally.asked.length).toBeLessThan(0.01)
      // They use what there is: three to four windows.
      expect(tally.asked.length).toBeGreaterThan(limit * 1.8)
      ends.abort()
      ends = new AbortController()
    }
  },
)

test('after a 429 the watch waits for Retry-After, and keeps its answer', async () => {
  const tally = fakeTally({ limit: 2 })
  const { readings } = watched(tally)
  await pass(1)
  await connect({ url: 'http://tally.test', key: 'tally_x', fetch: tally.fetch }).getKpis({ eventId })
  await pass(59)
  await pass(70)
  const [, , ...later] = tally.asked.map(({ status }) => status)
  expect(later.filter(status => status === 429).length).toBeLessThanOrEqual(1)
  expect(readings.every(({ answer }) => answer !== undefined)).toBe(true)
})

test.for([
  { 'Retry-After': '9999999' },
  { 'Retry-After': '30', 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '17' },
])('a wait that a 429 asks for is long, but an hour at most: %o', async headers => {
  const tally = fakeTally()
  tally.state.problem = { status: 429, headers, body: { type: '/problems/rate-limit-exceeded' } }
  watched(tally)
  await pass(16)
  expect(tally.asked.length).toBe(1)
  await pass(3_700)
  expect(tally.asked.length).toBeGreaterThan(1)
})

test.for([
  { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1790000000' },
  { 'X-RateLimit-Limit': '0', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '0' },
  { 'X-RateLimit-Limit': '-1', 'X-RateLimit-Remaining': '-60', 'X-RateLimit-Reset': '-60' },
  { 'X-RateLimit-Limit': '2', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '0' },
  { 'Retry-After': '-5' },
])('nothing asks more often than every second, nor ends, whatever headers say: %o', async headers => {
  const tally = fakeTally()
  const types = { 200: undefined, 429: '/problems/rate-limit-exceeded', 503: '/problems/service-unavailable' }
  for (const [status, type] of Object.entries(types)) {
    tally.state.problem = { status: Number(status), headers, body: { type, data: [], meta: {} } }
    watched(tally, { everyMs: 1_000 })
    const before = tally.asked.length
    // Waits are random, and up to two windows of 60 s.
    await pass(1_200)
    const times = tally.asked.slice(before).map(({ atMs }) => atMs)
    const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000)
    expect(gaps.length).toBeGreaterThan(2)
    ends.abort()
    ends = new AbortController()
  }
})

test('figures are stale if Tally has not heard from the tills, by the clock of the server', async () => {
  const tally = fakeTally()
  const { last } = watched(tally)
  await pass(1)
  expect(last()?.stale).toBe(false)
  tally.state.asOfLagMs = 30_000
  await pass(6)
  expect(last()).toMatchObject({ stale: true, error: undefined })
  tally.state.asOfLagMs = 500
  await pass(6)
  expect(last()?.stale).toBe(false)
})

test('an outage makes the figures stale and requests rare; the watch recovers from it', async () => {
  const tally = fakeTally()
  const { readings, last } = watched(tally)
  await pass(1)
  tally.state.isDown = true
  await pass(300)
  expect(last()).toMatchObject({ stale: true, isChanged: false, answer: { data: [{ quantitySold: 1 }] } })
  expect(last()?.error?.message).toBe('fetch failed')
  expect(readings.length).toBeLessThan(16)
  tally.state.isDown = false
  tally.state.sold = 9
  await pass(61)
  expect(last()).toMatchObject({ stale: false, error: undefined, answer: { data: [{ quantitySold: 9 }] } })
})

const html = '<!doctype html><title>Sign in</title>'
test.for([
  { says: 'a 503 of Tally', status: 503, body: { type: '/problems/service-unavailable' } },
  { says: 'the 502 of a proxy', status: 502, body: html },
  { says: 'the 404 of a proxy that has no route yet', status: 404, body: '404 page not found' },
  { says: 'the 404 of a gateway, in JSON', status: 404, body: { message: 'no Route matched', type: 7 } },
  { says: 'the 401 of another server', status: 401, body: { type: 'about:blank', errors: 'none' } },
  { says: 'the 403 of a firewall', status: 403, body: html },
  { says: 'the 429 of a proxy', status: 429, body: html },
  { says: 'a portal with 200', status: 200, body: html },
  { says: 'JSON of another server', status: 200, body: { data: [] } },
  { says: 'a list', status: 200, body: [] },
  { says: 'no body', status: 200, body: '' },
  { says: 'null', status: 200, body: 'null' },
  { says: 'half an answer', status: 200, body: '{"data":[{"menuItemId":7,"item' },
  { says: 'a 204', status: 204, body: undefined },
  { says: 'a 304 to a question without a tag', status: 304, body: undefined },
])('an outage ends nothing, and figures stay: $says', async ({ status, body }) => {
  const tally = fakeTally()
  tally.state.problem = { status, headers: {}, body }
  const { last } = watched(tally)
  await pass(1)
  const error = { name: 'TallyProblem', status, message: expect.stringContaining(`${status} is not Tally`) }
  expect(last()).toMatchObject({ answer: undefined, stale: true, error })
  tally.state.problem = undefined
  await pass(20)
  expect(last()).toMatchObject({ stale: false, error: undefined, answer: { data: [{ quantitySold: 1 }] } })
  if (status === 304) return
  tally.state.problem = { status, headers: {}, body }
  await pass(600)
  expect(last()).toMatchObject({ stale: true, isChanged: false, answer: { data: [{ quantitySold: 1 }] } })
  expect(last()?.error).toMatchObject({ status, isTransient: true, errors: [] })
})

test('figures from before a sleep are stale, though the monotonic clock stood still', async () => {
  const tally = fakeTally()
  const { last } = watched(tally)
  await pass(1)
  expect(last()?.stale).toBe(false)
  tally.state.isDown = true
  vi.setSystemTime(Date.now() + 3_600_000)
  await pass(6)
  expect(last()).toMatchObject({ stale: true, error: { message: 'fetch failed' } })
  tally.state.isDown = false
  await pass(15)
  expect(last()).toMatchObject({ stale: false, error: undefined })
})

test('a clock that is wrong, or set back in between, makes no figures stale', async () => {
  const tally = fakeTally()
  const { readings } = watched(tally)
  await pass(11)
  vi.setSystemTime(Date.now() - 5 * 3_600_000)
  await pass(11)
  expect(readings.map(({ stale }) => stale)).toEqual(Array(readings.length).fill(false))
})

test('a revoked key ends the watch with a typed problem', async () => {
  const tally = fakeTally()
  const { ended } = watched(tally)
  await pass(1)
  const body = { type: '/problems/unauthorized', detail: 'Send the token.', requestId: 'r1' }
  tally.state.problem = { status: 401, headers: {}, body }
  await pass(6)
  const problem = { problem: 'unauthorized', status: 401, requestId: 'r1', message: 'Send the token.' }
  await expect(ended).rejects.toMatchObject(problem)
})

test('the signal ends it, in a wait and in a request', async () => {
  const tally = fakeTally()
  const waits = watched(tally)
  await pass(1)
  ends.abort()
  await waits.ended
  expect(tally.asked.length).toBe(1)
  expect(vi.getTimerCount()).toBe(0)

  ends = new AbortController()
  const hangs = () => new Promise<Response>(() => {})
  const asks = watched({ ...tally, fetch: (_, init) => Promise.race([hangs(), aborted(init?.signal)]) })
  await pass(1)
  ends.abort()
  await asks.ended
})

const aborted = (signal: AbortSignal | null | undefined) =>
  new Promise<Response>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

test.for([
  { url: undefined, key: 'tally_x', says: /^url: / },
  { url: '127.0.0.1:8080', key: 'tally_x', says: /^url: / },
  { url: 'localhost:8080', key: 'tally_x', says: /^url: / },
  { url: 'http://user@tally.test', key: 'tally_x', says: /^url: / },
  { url: 'http://:secret@tally.test', key: 'tally_x', says: /^url: / },
  { url: 'http://tally.test/?event=7', key: 'tally_x', says: /^url: / },
  { url: 'http://tally.test/#', key: 'tally_x', says: /^url: / },
  { url: 'http://tally.test', key: undefined, says: /^key: / },
  { url: 'http://tally.test', key: 'tally_…', says: /^key: / },
  { url: 'http://tally.test', key: 'tally_x', timeoutMS: 5_000, says: /^timeoutMS: not an option / },
])('what connect cannot use is an error at once, not an outage: $url $key', ({ says, ...options }) => {
  expect(() => connect(options as never)).toThrow(says)
})

test.for([
  { everyMs: Number(undefined), says: /^everyMs: / },
  { everyMs: 999, says: /^everyMs: / },
  { everyMs: -5_000, says: /^everyMs: / },
  { everyMs: Number.POSITIVE_INFINITY, says: /^everyMs: / },
  { everyMs: 2 ** 40, says: /^everyMs: / },
  { everyMs: '5000', says: /^everyMs: / },
  { everyMs: null, says: /^everyMs: / },
  { staleAfterMs: Number.NaN, says: /^staleAfterMs: / },
  { staleAfterMs: -1, says: /^staleAfterMs: / },
  { staleAfterMs: '9', says: /^staleAfterMs: / },
  { signal: new AbortController(), says: /^signal: / },
  { signal: null, says: /^signal: / },
  { timeoutMs: Number(undefined), says: /^timeoutMs: / },
  { timeoutMs: 0, says: /^timeoutMs: / },
  { timeoutMs: 2 ** 31, says: /^timeoutMs: / },
  { fetch: 'fetch', says: /^fetch: / },
  { name: 'getKPIs', says: /^getKPIs: / },
  { name: 'constructor', says: /^constructor: / },
  { parameters: {}, says: /^eventId: / },
  { parameters: { eventId: undefined }, says: /^eventId: / },
  { parameters: null, says: /^eventId: / },
  { parameters: { eventId, dayID: 42 }, says: /^dayID: not a parameter of getKpis$/ },
  { everyMS: 5_000, says: /^everyMS: not an option of watch$/ },
])('an impossible option of a watch is a TypeError before any request: %o', ({ says, ...given }) => {
  const tally = fakeTally()
  const { name = 'getKpis', parameters = { eventId }, timeoutMs, fetch = tally.fetch, ...options } = given
  const watch = () => {
    const client = connect({ url: 'http://tally.test', key: 'tally_x', fetch, timeoutMs } as never)
    return client.watch(name as 'getKpis', parameters as never, options as never)
  }
  expect(watch).toThrow(TypeError)
  expect(watch).toThrow(says)
})
