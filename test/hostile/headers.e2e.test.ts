import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'
import { requestBytes, talk } from './raw.ts'

/** docs/security.md, Headers: every answer of every server, whatever was asked. */
const tally = useTally({ settings: { CORS_ORIGINS: 'https://screen.example.org' } })
const servers: Record<string, string> = {}
const festival = newFestival()
let token: string

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event(), festival.order()])
  token = await tally.key(festival.organizationId)
  const [query] = tally.queries as [(typeof tally.queries)[0]]
  const admin = await tally.startAdmin()
  Object.assign(servers, {
    query: query.address,
    'operations of query': query.ops,
    admin: admin.address,
    'operations of admin': admin.ops,
  })
})

const paths: Record<string, string[]> = {
  query: [
    '/',
    festival.path,
    '/api/v1/events',
    '/api/v1/openapi.json',
    '/docs',
    '/docs/',
    '/docs/none',
    '/problems/unauthorized',
    '/problems/none',
  ],
  admin: ['/', '/sign-in', '/live/stream', '/assets/style.css', '/none'],
  operations: ['/', '/livez', '/readyz', '/metrics'],
}
const wrong = ['/%zz', '/%00', `/${'x'.repeat(300)}`, '/..%2f..%2fetc/passwd']

function requestsTo(path: string): string[] {
  const key = `X-Api-Key: ${token}`
  const preflight = ['Origin: https://screen.example.org', 'Access-Control-Request-Method: GET']
  return [
    requestBytes('GET', path, { headers: [] }),
    requestBytes('GET', path, { headers: [key] }),
    requestBytes('HEAD', path, { headers: [key] }),
    requestBytes('OPTIONS', path, { headers: preflight }),
    requestBytes('POST', path, { headers: ['Sec-Fetch-Site: cross-site', 'Content-Type: a/b'], body: 'x' }),
    requestBytes('PUT', path, { headers: [] }),
  ]
}

test('every answer forbids guessing its type, and says what it may load', async () => {
  const lacking: string[] = []
  const seen = new Set<string>()
  for (const [name, address] of Object.entries(servers)) {
    const own = paths[name.split(' ')[0] ?? ''] ?? []
    const malformed = [
      'nonsense\r\n\r\n',
      'BREW / HTTP/1.1\r\n\r\n',
      `GET / HTTP/1.1\r\nA: ${'a'.repeat(70_000)}\r\n\r\n`,
    ]
    for (const bytes of [...[...own, ...wrong].flatMap(requestsTo), ...malformed]) {
      const { text } = await talk(address, bytes)
      const [head = ''] = text.split('\r\n\r\n')
      seen.add(`${name} ${head.slice(9, 12)}`)
      const isSafe =
        /^x-content-type-options: nosniff$/im.test(head) && /^content-security-policy: ./im.test(head)
      if (!isSafe) lacking.push(`${name}: ${bytes.slice(0, 60)} -> ${head.slice(0, 40)}`)
    }
  }
  expect(lacking).toEqual([])
  expect([...seen].sort()).toEqual(
    expect.arrayContaining([
      'query 200',
      'query 204',
      'query 401',
      'query 431',
      'admin 200',
      'admin 303',
      'admin 400',
      'operations of query 200',
      'operations of admin 431',
    ]),
  )
})
