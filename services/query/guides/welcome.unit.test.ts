import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { welcome } from './welcome.ts'

function open(ages: number[], isPostgresUp = true) {
  const app = fastify()
  const watermarks = { ages: () => new Map(ages.entries()), isPostgresUp: () => isPostgresUp }
  app.addHook('onRequest', async (_, reply) => void reply.raw.setHeader('Vary', 'Origin'))
  app.setNotFoundHandler((request, reply) => {
    if (!welcome(request, reply, watermarks)) reply.code(404).send('none')
  })
  return (url: string, accept?: string) =>
    app.inject({ url, headers: accept === undefined ? {} : { accept } })
}
const ask = open([412, 849])
const firefox = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

test.each([
  ['a browser', firefox, 200],
  ['who says nothing', undefined, 404],
  ['who takes anything', '*/*', 404],
  ['who takes JSON rather', 'application/json, text/html;q=0.9', 404],
  ['who takes a problem as well', 'text/html, application/problem+json', 404],
  ['who takes no HTML', 'text/html;q=0, */*', 404],
  ['who talks nonsense', 'text/html;q=., ,;', 404],
  ['who takes HTML rather', 'application/json;q=0.5, TEXT/HTML ; level=1;q=0.7', 200],
])('at / there is the right answer for %s, and caches are told', async (_, accept, status) => {
  const { statusCode, headers } = await ask('/?from=a-link', accept)
  expect([statusCode, headers.vary]).toEqual([status, ['Origin', 'Accept']])
})

test('no other path is greeted', async () => {
  const { statusCode, headers } = await ask('/nowhere', firefox)
  expect([statusCode, headers.vary]).toEqual([404, 'Origin'])
})

test('the age is that of the oldest figures, and left out while it is not known', async () => {
  const body = async (ask: ReturnType<typeof open>) => (await ask('/', firefox)).body
  expect(await body(ask)).toContain('Everything received until 0.8 s ago is counted.')
  for (const unknown of [open([]), open([90_000], false)])
    expect(await body(unknown)).not.toContain('is counted')
})
