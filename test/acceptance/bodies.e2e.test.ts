import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { newFestival } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'
import { requestBytes, statusesOf, talk } from '../hostile/raw.ts'

const tally = useSharedTally()
const events = '/api/v1/events'

const withBody = (method: string, path: string, type: string, body: string, headers: string[] = []) =>
  requestBytes(method, path, {
    headers: [...headers, `Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`],
    body,
  })
const send = (bytes: string) => talk(tally.queries[0]?.address ?? '', bytes)

test.for([
  ['POST', events, 'application/json', '{', 405],
  ['POST', events, 'application/json', '', 405],
  ['POST', events, 'application/xml', '<a/>', 405],
  ['POST', events, 'text/plain', 'x'.repeat(5_000), 405],
  ['PUT', events, 'application/json', JSON.stringify('x'.repeat(5_000)), 405],
  ['PATCH', events, 'bogus', 'x', 405],
  ['DELETE', events, 'application/json', '{', 405],
  ['POST', '/api/v1/nowhere', 'application/json', '{', 404],
] as const)('whatever the body, %s %s of %s is refused by its method and path', async ([...given]) => {
  const [method, path, type, body, status] = given
  const heard = await send(withBody(method, path, type, body))
  expect(statusesOf(heard)).toEqual([status])
  expect(heard.text).toMatch(/\r\ncontent-type: application\/problem\+json\r\n/i)
  expect(/\r\nallow: GET, HEAD\r\n/i.test(heard.text)).toBe(status === 405)
})

test('a body that comes with a GET is not looked at, and its connection is not kept', async () => {
  const festival = newFestival()
  await tally.count([festival.organization()])
  const headers = [`X-Api-Key: ${await tally.key(festival.organizationId)}`]
  const bytes = withBody('GET', events, 'application/json', '{', headers)
  const heard = await send(bytes.replace('Connection: close\r\n', ''))
  expect([statusesOf(heard), heard.closed]).toEqual([[200], true])
  expect(heard.text).toMatch(/\r\nconnection: close\r\n/i)
})
