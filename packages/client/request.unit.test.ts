import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { connect } from './client.ts'
import { fakeTally } from './test/fakeTally.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

/** A host that redirects all requests, or answers them if it is not told where to; `keys` are those it was sent. */
async function openHost(location?: string) {
  const keys: unknown[] = []
  const server = createServer((request, response) => {
    keys.push(request.headers['x-api-key'])
    response.writeHead(location ? 302 : 200, location ? { location } : {}).end('{}')
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys }
}

test('a redirect does not take the key to another host, and counts as an outage', async () => {
  const portal = await openHost()
  const redirects = await openHost(portal.url)
  const tally = connect({ url: redirects.url, key: 'tally_x' })
  await expect(tally.listEvents()).rejects.toThrow('fetch failed')
  for await (const { error } of tally.watch('listEvents', {})) {
    expect(error?.message).toBe('fetch failed')
    break
  }
  expect({ redirects: redirects.keys, portal: portal.keys }).toEqual({
    redirects: ['tally_x', 'tally_x'],
    portal: [],
  })
})

test.for(['tally_x\n', ' tally_x', '\u{feff}tally_x', 'tally_x\u{a0}'])(
  'a key is sent without what was copied along with it: %j',
  async key => {
    const tally = fakeTally()
    await connect({ url: 'http://tally.test/ ', key, fetch: tally.fetch }).listEvents()
    expect(tally.asked.map(({ path, headers }) => [path, headers.get('X-Api-Key')])).toEqual([
      ['http://tally.test/api/v1/events', 'tally_x'],
    ])
  },
)

test('a fetch that has forgotten its signal is not waited for, after a time-out or an abort', async () => {
  const tally = (timeoutMs: number) =>
    connect({ url: 'http://tally.test', key: 'tally_x', timeoutMs, fetch: () => new Promise(() => {}) })
  await expect(tally(20).listEvents()).rejects.toMatchObject({ name: 'TimeoutError' })
  const stops = new AbortController()
  const watched = tally(60_000).watch('listEvents', {}, { signal: stops.signal }).next()
  stops.abort()
  expect(await watched).toEqual({ done: true, value: undefined })
})
