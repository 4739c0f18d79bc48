import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:http2'
import { createAdministrator, hashPassword } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import { ask } from '@tally/testkit/processes/http'
import { useTally } from '@tally/testkit/processes/tally'
import { visitorAt } from '@tally/testkit/processes/visitor'
import { newFestival } from '@tally/testkit/records/festival'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { type InFront, startProxy } from './proxies.ts'

/** Proxies that compress what Tally answers. Apache appends to the entity tag, nginx and HAProxy make it weak. */
const tally = useTally()
const festival = newFestival()
const path = `${festival.path}/live/item-counts`
const account = { email: 'anna@example.org', password: 'un gelato al pistacchio' }
let token: string
let api: string
let area: string
let running: InFront | undefined

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event(), festival.order()])
  token = await tally.key(festival.organizationId)
  api = tally.queries[0]?.address ?? ''
  const settings = { ADMIN_SECRET_KEY: '0'.repeat(64), ADMIN_TRUSTED_PROXIES: '127.0.0.1' }
  area = (await tally.startAdmin(settings)).address
  await createAdministrator(tally.database.db, {
    email: account.email,
    organizationId: festival.organizationId as OrganizationId,
    isPlatform: false,
    passwordHash: await hashPassword(account.password, { ln: 4, r: 8, p: 1 }),
  })
})
afterEach(() => running?.stop())

test.for([
  { name: 'compressingApache', filter: 'DEFLATE', encoding: 'gzip', appended: '-gzip' },
  { name: 'compressingApache', filter: 'BROTLI_COMPRESS', encoding: 'br', appended: '-br' },
  { name: 'compressingNginx', filter: 'gzip', encoding: 'gzip', appended: '' },
  { name: 'compressingHaproxy', filter: 'gzip', encoding: 'gzip', appended: '' },
  { name: 'compressingTraefik', filter: 'zstd', encoding: 'zstd', appended: '' },
  { name: 'compressingEnvoy', filter: 'gzip', encoding: 'gzip', appended: '' },
] as const)('a poll through $name with $filter gets 304', async ({ name, filter, encoding, appended }) => {
  running = await startProxy(name, { behind: api, filter })
  const { address } = running
  const first = await ask(address, path, { token, headers: { 'Accept-Encoding': encoding } })
  expect(first).toMatchObject({ status: 200, headers: { 'content-encoding': encoding } })
  const etag = String(first.headers.etag)
  expect(etag).toMatch(new RegExp(`^W/"[\\w-]{27}${appended}"$`))
  const headers = { 'Accept-Encoding': encoding, 'If-None-Match': etag }
  const second = await ask(address, path, { token, headers })
  expect(second).toMatchObject({ status: 304, text: '' })
})

test.for(['compressingTraefik', 'compressingEnvoy'] as const)(
  'polls on one HTTP/2 connection to %s are answered',
  async name => {
    running = await startProxy(name, { behind: api, filter: 'gzip' })
    const session = connect(running.address)
    const polls = Array.from({ length: 50 }, async () => {
      const stream = session.request({ ':path': path, 'x-api-key': token }).resume()
      const [headers] = await once(stream, 'response')
      return headers[':status']
    })
    expect(new Set(await Promise.all(polls))).toEqual(new Set([200]))
    session.destroy()
  },
)

test.for([
  { name: 'compressingApache', filter: 'DEFLATE' },
  { name: 'compressingNginx', filter: 'gzip' },
  { name: 'compressingHaproxy', filter: 'gzip' },
  { name: 'compressingTraefik', filter: 'gzip' },
  { name: 'compressingEnvoy', filter: 'gzip' },
] as const)('a live screen through $name gets its beats, compressed', async ({ name, filter }) => {
  running = await startProxy(name, { behind: area, filter })
  const { address } = running
  const visitor = visitorAt(address)
  expect((await visitor.post('/sign-in', account)).status).toBe(303)
  const { text } = await visitor.get('/live')
  const stream = /data-stream="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const outgoing = request(`${address}${stream}`, {
    headers: { accept: 'text/event-stream', 'accept-encoding': 'gzip', cookie: visitor.cookie() },
  }).end()
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  expect(incoming.headers).toMatchObject({ 'content-encoding': 'gzip' })
  for (let beats = 0; beats < 5; beats++) await once(incoming, 'data')
  outgoing.destroy()
})
