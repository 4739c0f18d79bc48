import { connect } from 'node:net'
import { fastify } from 'fastify'
import { expect, test, vi } from 'vitest'
import { FatalError } from '../lifecycle/errors.ts'
import { listen } from './server.ts'

test('a server that cannot listen names the address and its settings', async () => {
  const first = fastify()
  const { port } = new URL(await listen(first, { host: '127.0.0.1', port: 0 }, 'QUERY'))
  const failure = (host: string) =>
    listen(fastify(), { host, port: Number(port) }, 'ADMIN').catch(error => error)
  const [inUse, elsewhere] = [await failure('127.0.0.1'), await failure('192.0.2.1')]
  await first.close()
  const mend = 'set ADMIN_HOST to an address of this machine, or ADMIN_PORT to a free port'
  expect(inUse).toBeInstanceOf(FatalError)
  expect(inUse.message).toBe(
    `cannot listen on 127.0.0.1:${port} (listen EADDRINUSE: address already in use 127.0.0.1:${port}): ${mend}`,
  )
  expect(elsewhere.message).toMatch(
    /^cannot listen on 192\.0\.2\.1:\d+ \(.*EADDRNOTAVAIL.*\): set ADMIN_HOST /,
  )
})

const reaches = (host: string, port: number) =>
  new Promise(resolve => {
    const socket = connect(port, host, () => resolve('connected'))
    socket
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      .on('close', () => resolve('closed'))
  })

test('on :: a server is reached by IPv4 and IPv6, and on 0.0.0.0 by IPv4 alone', async () => {
  const reached: Record<string, unknown> = {}
  for (const host of ['::', '0.0.0.0', '127.0.0.1']) {
    const app = fastify()
    await listen(app, { host, port: 0 }, 'QUERY')
    const { port } = app.server.address() as { port: number }
    reached[host] = [await reaches('127.0.0.1', port), await reaches('::1', port)]
    app.server.closeAllConnections()
    await app.close()
  }
  expect(reached).toEqual({
    '::': ['connected', 'connected'],
    '0.0.0.0': ['connected', 'ECONNREFUSED'],
    '127.0.0.1': ['connected', 'ECONNREFUSED'],
  })
})

test.for(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])(
  'on a host without IPv6 (%s), :: is all IPv4 addresses',
  async code => {
    const app = fastify()
    const fails = vi.spyOn(app.server, 'listen').mockImplementationOnce(() => {
      process.nextTick(() => app.server.emit('error', Object.assign(new Error(code), { code })))
      return app.server
    })
    await listen(app, { host: '::', port: 0 }, 'QUERY')
    expect(fails).toHaveBeenCalledTimes(2)
    const { port, address } = app.server.address() as { port: number; address: string }
    expect([address, await reaches('127.0.0.1', port)]).toEqual(['0.0.0.0', 'connected'])
    app.server.closeAllConnections()
    await app.close()
  },
)
