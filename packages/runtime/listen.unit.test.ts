import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { FatalError } from './errors.ts'
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
