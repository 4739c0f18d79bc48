import { endpoints, scope as scopes } from '@tally/contract'
import { getWhenFree } from '@tally/testkit/oracle/questions'
import { tally as command } from '@tally/testkit/processes/command'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { beforeAll, expect, test } from 'vitest'

const tally = useTally({ queries: 2 })
const festival = newFestival()

beforeAll(() => tally.count([festival.organization(), festival.event()]))

const keys = (...args: string[]) => command(['keys', ...args], tally.settings)
const statuses = async (token: string, path = '/api/v1/events') =>
  (await Promise.all([0, 1].map(query => getWhenFree(tally, path, token, query)))).map(({ status }) => status)

test('a new key works at once in every process', async () => {
  const of = ['--organization', festival.organizationId, '--name', 'till', '--scope', 'events:read']
  const { stdout } = await keys('create', ...of, '--json')
  expect(await statuses(JSON.parse(stdout).token)).toEqual([200, 200])
})

test('a revoked key is refused in every process within a second', async () => {
  const token = await tally.key(festival.organizationId)
  const [, keyId = ''] = token.split('_')
  expect(await statuses(token)).toEqual([200, 200])
  const { code } = await keys('revoke', keyId)
  const revokedAt = performance.now()
  expect(code).toBe(0)
  await until('it is refused', async () => (await statuses(token)).every(status => status === 401))
  expect(performance.now() - revokedAt).toBeLessThan(1_000)
})

test('each scope opens its own endpoints and no others', async () => {
  for (const scope of scopes.options) {
    const token = await tally.key(festival.organizationId, { scopes: [scope] })
    for (const { url, scope: needed } of Object.values(endpoints)) {
      const asked = url.replace(':eventId', festival.eventId).replace(':id', 'nobody')
      const opened = url.endsWith(':id') ? 404 : 200
      const status = needed === scope ? opened : 403
      expect([scope, asked, await statuses(token, asked)]).toEqual([scope, asked, [status, status]])
    }
  }
})

test('the last use of a key is written, cut to the minute', async () => {
  const token = await tally.key(festival.organizationId)
  await statuses(token)
  // A process that ends writes what it noted; a running one does so within 70 s.
  for (const { process } of tally.queries) expect(await process.end()).toBe(0)
  const listed = await keys('list', '--organization', festival.organizationId, '--json')
  const [line = ''] = listed.stdout.split('\n').filter(line => line.includes(token.split('_')[1] ?? ''))
  const { lastUsedAt } = JSON.parse(line)
  expect(lastUsedAt).toMatch(/:00Z$/)
  expect(Date.now() - Date.parse(lastUsedAt)).toBeLessThan(120_000)
})
