import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { welcome } from './welcome.ts'

let ages: number[] = []
const app = fastify()
app.addHook('onRequest', async (_, reply) => void reply.raw.setHeader('Vary', 'Origin'))
app.setNotFoundHandler((request, reply) => {
  if (!welcome(request, reply, () => ages)) reply.code(404).send('none')
})
const ask = (url: string, accept?: string) =>
  app.inject({ url, headers: accept === undefined ? {} : { accept } })
const firefox = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

test.each([
  ['a browser', firefox, 200],
  ['who says nothing', undefined, 404],
  ['who takes anything', '*/*', 404],
  ['who takes JSON rather', 'application/json, text/html;q=0.9', 404],
  ['who takes a problem as well', 'text/html, application/problem+json', 404],
  ['who takes no HTML', 'text/html;q=0, */*', 404],
  [
    'who takes JSON rather than a problem',
    'application/problem+json;q=0.1, application/json, text/html;q=0.9',
    404,
  ],
  ['who takes what begins like HTML', 'text/html-x', 404],
  ['who talks nonsense', 'text/html;q=., ,;', 404],
  ['who takes HTML rather', 'application/json;q=0.5, TEXT/HTML ; level=1;q=0.7', 200],
])('GET / answers %s as it asks, and Vary names Accept', async (_, accept, status) => {
  const { statusCode, headers } = await ask('/?from=a-link', accept)
  expect([statusCode, headers.vary]).toEqual([status, ['Origin', 'Accept']])
})

test.each([
  [[], 'The age of the figures is not known.'],
  [[200, 840], 'Everything sold up to 0.8 s ago is counted.'],
  [[-3], 'Everything sold up to 0.0 s ago is counted.'],
  [[200, 61_400], 'The figures are behind: some are those of 61 s ago.'],
])('it says how old the figures of shards of the ages %o are', async (ofShards, status) => {
  ages = ofShards
  expect((await ask('/', firefox)).body).toContain(`<p>${status}</p>`)
})

test('no other path is greeted', async () => {
  const { statusCode, headers } = await ask('/nowhere', firefox)
  expect([statusCode, headers.vary]).toEqual([404, 'Origin'])
})
