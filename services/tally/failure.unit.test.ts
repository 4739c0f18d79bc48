import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { sentenceOf } from './failure.ts'

const environment = { DATABASE_URL: 'postgres://app:hidden@db:5432/tally' }

test.each([
  ['28P01', 'password authentication failed for user "app"', 'see DATABASE_URL'],
  [
    '42501',
    'permission denied for table orders',
    'grant the role of DATABASE_URL its rights (docs/operations.md, Database roles)',
  ],
])('the sentence about Postgres’s code %s says what to do', (code, message, mend) => {
  const error = Object.assign(new Error(message), { code })
  expect(sentenceOf(error, environment)).toBe(`Postgres at db:5432/tally refuses: ${message}; ${mend}`)
})

test('the sentence about a port that is in use says so, and not that Postgres does not answer', async () => {
  const first = createServer().listen(0, '127.0.0.1')
  await once(first, 'listening')
  const { port } = first.address() as AddressInfo
  const [error] = await once(createServer().listen(port, '127.0.0.1'), 'error')
  first.close()
  expect(sentenceOf(error, environment)).toBe(
    `cannot serve: listen EADDRINUSE: address already in use 127.0.0.1:${port}; free the port, or set QUERY_PORT, ADMIN_PORT or OPS_PORT to another one`,
  )
})
