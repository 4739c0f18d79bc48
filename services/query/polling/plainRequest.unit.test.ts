import { expect, test } from 'vitest'
import { readPlainRequest } from './plainRequest.ts'

const target = '/api/v1/events/e/analytics/kpis?dayId=3'
const request = (...headers: string[]) =>
  Buffer.from([`GET ${target} HTTP/1.1`, 'Host: tally.example', ...headers, '', ''].join('\r\n'), 'latin1')

test('a request is read as Node reads it', () => {
  const bytes = request(
    'x-API-key:  a token\t ',
    'Authorization: Bearer other',
    'If-None-Match: W/"figures"',
    'ORIGIN: https://screen.example',
    'User-Agent: a (b; c) "d"',
    'Accept:',
    'Connection: Keep-Alive',
  )
  expect(readPlainRequest(bytes)).toEqual({
    text: bytes.toString('latin1'),
    url: target,
    headers: {
      'x-api-key': 'a token',
      authorization: 'Bearer other',
      'if-none-match': 'W/"figures"',
      origin: 'https://screen.example',
    },
  })
  expect(readPlainRequest(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toMatchObject({ url: '/', headers: {} })
})

test.each([
  ['a header that decides and is there twice', request('X-Api-Key: a', 'x-api-key: b')],
  ['an empty one of two', request('If-None-Match:', 'If-None-Match: "a"')],
  ['a connection that is to close', request('Connection: close')],
  ['an upgrade', request('Connection: Upgrade', 'Upgrade: websocket')],
  ['a proxy’s connection', request('Proxy-Connection: keep-alive')],
  ['a body', request('Content-Length: 0')],
  ['a body in chunks', request('Transfer-Encoding: chunked')],
  ['an expectation', request('Expect: 100-continue')],
  ['a folded header', request('X-Api-Key: a', ' b')],
  ['a space before a colon', request('X-Api-Key : a')],
  ['a line without a colon', request('X-Api-Key')],
  ['a header without a name', request(': a')],
  ['a byte beyond ASCII', request('X-Api-Key: \u00e4')],
  ['a control character', request('X-Api-Key: a\u0000')],
  ['a line that ends without a carriage return', Buffer.from('GET / HTTP/1.1\nHost: a\n\n')],
  ['a carriage return within a line', request('X-Api-Key: a\rb')],
  ['another method', Buffer.from('HEAD / HTTP/1.1\r\n\r\n')],
  ['a method in lower case', Buffer.from('get / HTTP/1.1\r\n\r\n')],
  ['another version', Buffer.from('GET / HTTP/1.0\r\n\r\n')],
  ['an absolute target', Buffer.from('GET http://tally.example/ HTTP/1.1\r\n\r\n')],
  ['a space in the target', Buffer.from('GET /a b HTTP/1.1\r\n\r\n')],
  ['a target beyond ASCII', Buffer.from('GET /\u00e4 HTTP/1.1\r\n\r\n', 'latin1')],
  ['a line before the request', Buffer.from('\r\nGET / HTTP/1.1\r\n\r\n')],
  ['a part of a request', request().subarray(0, -2)],
  ['more than a request', Buffer.concat([request(), request()])],
  ['bytes behind a request', Buffer.concat([request(), Buffer.from('a')])],
  ['a long request', request(`X-Long: ${'a'.repeat(4_096)}`)],
])('left to Node: %s', (_, bytes) => {
  expect(readPlainRequest(bytes)).toBeUndefined()
})
