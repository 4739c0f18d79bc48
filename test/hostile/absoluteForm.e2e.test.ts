import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { newFestival } from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'
import { requestBytes, statusesOf, talk } from './raw.ts'

/** Targets as a client sends them to a proxy; RFC 9112, 3.2.2 has every server accept them. */
const tally = useSharedTally()
const festival = newFestival()
const order = festival.order()
let token: string

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event(), order])
  token = await tally.key(festival.organizationId)
})

const askFor = (method: string, target: string) => {
  const [{ address }] = tally.queries as [(typeof tally.queries)[0]]
  return talk(address, requestBytes(method, target, { headers: [`X-Api-Key: ${token}`] }))
}

test.each([
  ['GET', festival.path, 200],
  ['GET', `${festival.path}/analytics/kpis?areaId=1`, 200],
  ['GET', `${festival.path}/orders/nobody?x=1`, 404],
  ['GET', '/x/y?z=1', 404],
  ['GET', '/api/v1/events//orders', 404],
  ['GET', '', 404],
  ['GET', '?x=1', 404],
  ['POST', festival.path, 405],
  ['POST', '/nowhere', 404],
])('%s http://tally%s is answered as without the scheme and the host: %i', async (method, path, status) => {
  const heard = await askFor(method, `http://tally${path}`)
  expect(statusesOf(heard)).toEqual([status])
  if (status >= 400) expect(heard.text).toContain(`"instance":"${path.split('?')[0] || '/'}"`)
  expect(/\r\nallow: GET, HEAD\r\n/i.test(heard.text)).toBe(status === 405)
})
