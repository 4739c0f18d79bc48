import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'

const limit = 20
const tally = useTally({ queries: 2, settings: { RATE_LIMITS: `Trial=2,ActiveDayPass=${limit},Inactive=3` } })

async function festivalWithKey(status = 'ActiveDayPass') {
  const festival = newFestival()
  await tally.count([festival.organization({ status }), festival.event()])
  return { festival, token: await tally.key(festival.organizationId) }
}

test('of 50 concurrent requests to two processes, exactly as many pass as the limit allows', async () => {
  const ask = async () => {
    const { festival, token } = await festivalWithKey()
    const second = await tally.key(festival.organizationId, { scopes: ['events:read'] })
    return Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        tally.get(festival.path, { query: index % 2, token: index % 3 === 0 ? second : token }),
      ),
    )
  }
  let replies = await ask()
  const of = (status: number) => replies.filter(reply => reply.status === status)
  // A process that Redis answers too late, as on a busy machine, counts for itself.
  await until(`${limit} of 50 are granted`, async () => {
    if (of(200).length === limit && of(429).length === 50 - limit) return true
    replies = await ask()
    return false
  })
  const [granted, refused] = [of(200), of(429)]
  const remaining = granted
    .map(({ headers }) => Number(headers['x-ratelimit-remaining']))
    .toSorted((a, b) => a - b)
  expect(remaining).toEqual(Array.from({ length: limit }, (_, index) => index))
  for (const { headers } of replies) {
    expect(headers['x-ratelimit-limit']).toBe(String(limit))
    expect(headers['x-ratelimit-reset']).toMatch(/^([1-9]|[1-5]\d|60)$/)
  }
  for (const { headers, body } of refused) {
    expect(headers).toMatchObject({
      'x-ratelimit-remaining': '0',
      'retry-after': headers['x-ratelimit-reset'],
    })
    expect(body.type).toBe('/problems/rate-limit-exceeded')
  }
})

test('every authenticated answer costs one request, whatever its status; one without a valid token costs nothing', async () => {
  const { festival, token } = await festivalWithKey()
  const wrong = `${token.slice(0, -1)}${token.endsWith('0') ? 1 : 0}`
  const asks = [
    [festival.path, { token }, 200, 19],
    [`${festival.path}/orders/nobody`, { token }, 404, 18],
    [`${festival.path}/orders?page=0`, { token }, 400, 17],
    ['/api/v1/nowhere', { token }, 404, undefined],
    [festival.path, { token: wrong }, 401, undefined],
    [festival.path, { token, method: 'POST' }, 405, undefined],
    [festival.path, { token, method: 'HEAD' }, 200, 16],
    [festival.path, { token, headers: { 'If-None-Match': '*' } }, 304, 15],
  ] as const
  for (const [path, ask, status, left] of asks) {
    const reply = await tally.get(path, ask)
    expect({ path, status: reply.status, left: reply.headers['x-ratelimit-remaining'] }).toEqual({
      path,
      status,
      left: left?.toString(),
    })
  }
})

test('a change of the status counts from the next request on, in the same window, and Remaining is never negative', async () => {
  const { festival, token } = await festivalWithKey()
  const ask = async () => {
    const { status, headers } = await tally.get(festival.path, { token })
    return [status, Number(headers['x-ratelimit-limit']), Number(headers['x-ratelimit-remaining'])]
  }
  for (const left of [19, 18, 17, 16]) expect(await ask()).toEqual([200, limit, left])
  await tally.count([festival.organization({ version: 2, status: 'Trial' })])
  expect(await ask()).toEqual([429, 2, 0])
  await tally.count([festival.organization({ version: 3, status: 'Inactive' })])
  expect(await ask()).toEqual([429, 3, 0])
  await tally.count([festival.organization({ version: 4, status: 'ActiveDayPass' })])
  expect(await ask()).toEqual([200, limit, 15])
})
