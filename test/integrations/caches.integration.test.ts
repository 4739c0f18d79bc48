import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { serve } from '@tally/testkit/servers/serve'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { conversationsOf } from '../hostile/differential/conversations.ts'
import { requestBytes, talk } from '../hostile/raw.ts'
import { type InFront, startProxy } from './proxies.ts'

/** Shared caches with the configurations that their manuals begin with, in front of each server of Tally. */
const tally = useTally({
  settings: {
    CORS_ORIGINS: 'https://screen.example.org',
    RATE_LIMITS: 'Trial=1000000,ActiveDayPass=1000000,Inactive=2',
  },
})
const [one, two, limited] = [newFestival(), newFestival(), newFestival()]
const keys: Record<string, string> = {}
const backends: Record<string, string> = {}
const caches = new Map<string, InFront>()
let careless: Awaited<ReturnType<typeof serve>> | undefined

beforeAll(async () => {
  await tally.count([
    ...[one, two].flatMap(festival => [festival.organization(), festival.event(), festival.order()]),
    limited.organization({ status: 'Inactive' }),
    limited.event(),
  ])
  keys.one = await tally.key(one.organizationId)
  keys.two = await tally.key(two.organizationId)
  keys.narrow = await tally.key(two.organizationId, { scopes: ['orders:read'] })
  keys.limited = await tally.key(limited.organizationId)
  const [query] = tally.queries as [(typeof tally.queries)[0]]
  const down = await tally.startQuery({
    DATABASE_URL: 'postgres://tally:x@127.0.0.1:1/tally',
    REDIS_URL: 'redis://127.0.0.1:1',
  })
  // A server as Tally was: nothing says that its 404s belong to one client.
  careless = await serve((_request, response) => response.writeHead(404).end('not yours'))
  Object.assign(backends, {
    api: query.address,
    down: down.address,
    admin: (await tally.startAdmin()).address,
    operations: query.ops,
    careless: careless.url,
  })
})
afterAll(async () => {
  for (const { stop } of caches.values()) await stop()
  careless?.close()
})

const names = { nginx: 'cachingNginx', Varnish: 'cachingVarnish' } as const
type Name = keyof typeof names

async function inFront(name: Name, backend: string): Promise<string> {
  const key = `${name}-${backend}`
  const cache = caches.get(key) ?? (await startProxy(names[name], { behind: backends[backend] ?? '' }))
  caches.set(key, cache)
  return cache.address
}

const poll = `${one.path}/analytics/kpis`
const long = 'a'.repeat(300)
const paths: Record<string, string[]> = {
  api: [
    one.path,
    poll,
    `${poll}?dayId=x`,
    `${one.path}/orders`,
    `${one.path}/orders/nobody`,
    `${two.path}/orders`,
    `${limited.path}/analytics/kpis`,
    ...'/api/v1/events /api/v1/openapi.json /nowhere /%zz /docs /docs/ /docs/none /docs/guide'.split(' '),
    ...['/problems/unauthorized', '/llms.txt'],
  ],
  down: [poll, '/api/v1/events'],
  admin: '/ /sign-in /live /keys /audit /assets/style.css /assets/none.css /none /%zz'.split(' '),
  operations: ['/', '/livez', '/readyz', '/metrics', '/%zz'],
}

/** One path, asked for by everybody, in all ways, twice. */
function requestsTo(path: string): string[] {
  const tokens = Object.values(keys).map(token => [`X-Api-Key: ${token}`])
  const asked = [[], ...tokens, [`Authorization: Bearer ${keys.two}`], ['X-Api-Key: tally_x']]
  const origins = [
    [],
    ['Origin: https://screen.example.org'],
    ['If-None-Match: *'],
    ['Accept-Encoding: gzip'],
  ]
  const gets = asked.flatMap(key =>
    origins.flatMap(more => [get('GET', path, key, more), get('HEAD', path, key, more)]),
  )
  const preflight = get(
    'OPTIONS',
    path,
    [],
    ['Origin: https://screen.example.org', 'Access-Control-Request-Method: GET'],
  )
  return [...gets, preflight, get('POST', path, []), get('GET', `${path}?${long}`, []), ...gets]
}

const get = (method: string, path: string, ...headers: string[][]) =>
  requestBytes(method, path, {
    headers: [...headers.flat(), ...(method === 'POST' ? ['Content-Length: 0'] : [])],
  })

/** Whether an answer comes from the cache's store: nginx says so, and Varnish names the request that filled it. */
const isStored = (head: string): boolean =>
  /^x-cache: (?!miss|bypass|expired|\r?$)\w/im.test(head) || /^x-varnish: \d+ \d+/im.test(head)

test.each(['nginx', 'Varnish'] as const)('%s stores what nothing forbids it to store', async name => {
  const address = await inFront(name, 'careless')
  const asked = get('GET', '/', ['X-Api-Key: a'])
  const heard = [await talk(address, asked), await talk(address, asked)]
  expect(heard.map(({ text }) => isStored(text))).toEqual([false, true])
})

test.each(
  (['nginx', 'Varnish'] as const).flatMap(name =>
    Object.keys(paths).map(backend => [name, backend] as const),
  ),
)('%s gives no answer of Tally (%s) to a second client', async (name, backend) => {
  const address = await inFront(name, backend)
  const stored: string[] = []
  const statuses = new Set<string>()
  const seen = new Set<string>()
  for (const path of paths[backend] ?? [])
    for (const bytes of requestsTo(path)) {
      const { text } = await talk(address, bytes)
      const head = text.split('\r\n\r\n')[0] ?? ''
      statuses.add(head.slice(9, 12))
      const id = /^x-request-id: (\S+)/im.exec(head)?.[1]
      if (isStored(head) || (id !== undefined && seen.has(id)))
        stored.push(`${bytes.slice(0, 200)} -> ${head.slice(0, 400)}`)
      if (id !== undefined) seen.add(id)
    }
  expect(stored).toEqual([])
  const expected = {
    api: ['200', '204', '400', '401', '403', '404', '405', '429', ...(name === 'Varnish' ? ['304'] : [])],
    down: ['401', '503'],
    admin: ['200', '303', '404'],
    operations: ['200', '404'],
  }[backend]
  expect([...statuses]).toEqual(expect.arrayContaining(expected ?? []))
  // A cache of nginx passes no If-None-Match on, and makes a 304 only of what it may store; Varnish asks the server.
  expect(name === 'nginx' && statuses.has('304')).toBe(false)
})

test.each(['nginx', 'Varnish'] as const)(
  'through %s, no bytes of one client change the answer to another',
  async name => {
    const address = await inFront(name, 'api')
    const hostile = fc.sample(conversationsOf({ path: poll, token: keys.one ?? '' }), {
      seed: 1,
      numRuns: 400,
    })
    const path = `${two.path}/analytics/kpis`
    const own = requestBytes('GET', path, { headers: [`X-Api-Key: ${keys.two}`] })
    const wrong: string[] = []
    for (let from = 0; from < hostile.length; from += 20) {
      const sent = hostile.slice(from, from + 20).map(({ pieces }) => pieces.join(''))
      const hostileTalks = sent.map(bytes => talk(address, bytes, { timeoutMs: 300 }))
      for (const { text } of await Promise.all(sent.map(() => talk(address, own)))) {
        const isRight = text.startsWith('HTTP/1.1 200') && text.includes(`"eventId":"${two.eventId}"`)
        if (!isRight) wrong.push(`${JSON.stringify(sent)} -> ${text}`)
      }
      await Promise.all(hostileTalks)
    }
    expect(wrong).toEqual([])
  },
)
