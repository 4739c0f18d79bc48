import fc from 'fast-check'

/** What one client sends on one connection: the pieces are requests or not, and `cuts` are where segments end. */
export type Conversation = { pieces: string[]; cuts: number[] }

/** Paths that exist, and a token that opens them. */
export type Known = { path: string; token: string }

const rarely = (usual: string, ...rare: string[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 3, arbitrary: fc.constantFrom(...rare) })

const methods = rarely(
  'GET',
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'QUERY',
  'BREW',
  'GE',
  'get',
  'M-SEARCH',
  'CONNECT',
  '',
)
const versions = rarely('HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.1 x', '')
const lineEnds = rarely('\r\n', '\n', '\r')
const beginnings = rarely('', '\r\n', '\r\n\r\n', '\n', ' ', '\0', 'garbage\r\n\r\n')

const targetsOf = (path: string) =>
  rarely(
    path,
    `${path}?dayId=x`,
    `${path}?areaId=1`,
    path.replace(/\w+\/[\w-]+$/, 'analytics/orders/by-hour'),
    '/api/v1/events',
    '/problems/unauthorized',
    '/nowhere',
    '/%zz',
    `${path}?a=%zz`,
    `http://elsewhere${path}`,
    `//elsewhere${path}`,
    'elsewhere:443',
    '*',
    '',
    `${path} x`,
    `${path}#x`,
    `/${'a'.repeat(17_000)}`,
  )

/** Lines of headers, some of which belong together. */
const headersOf = (token: string) =>
  fc
    .array(
      fc.constantFrom(
        ['Host: other'],
        [`X-Api-Key: ${token}`],
        [`Authorization: Bearer ${token}`],
        ['Connection: keep-alive'],
        ['Connection: close'],
        ['Connection: Keep-Alive, x', 'Proxy-Connection: close'],
        ['Connection: Upgrade', 'Upgrade: websocket'],
        ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'],
        ['Upgrade: websocket'],
        ['Expect: 100-continue'],
        ['Expect: a-miracle'],
        ['Content-Length: 0'],
        ['Content-Length: 5'],
        ['Content-Length: 5, 5'],
        ['Content-Length: +5'],
        ['Content-Length:5 ', 'Content-Length: 6'],
        ['Transfer-Encoding: chunked'],
        ['Transfer-Encoding: chunked', 'Content-Length: 5'],
        ['Transfer-Encoding: gzip, chunked'],
        ['Transfer-Encoding: chunked, identity'],
        ['Transfer-Encoding: xchunked'],
        ['Transfer-Encoding : chunked'],
        ['If-None-Match: *'],
        ['Origin: https://elsewhere.example.org'],
        ['A: b', ' c'],
        ['A : b'],
        [' A: b'],
        ['A: b\0c'],
        ['A: b\rc'],
        ['A: \xe9'],
        [': b'],
        ['no colon'],
        [`A: ${'a'.repeat(5_000)}`],
        [`A: ${'a'.repeat(17_000)}`],
      ),
      { maxLength: 3 },
    )
    .map(lines => lines.flat())

const bodies = rarely(
  '',
  'hello',
  'hell',
  '5\r\nhello\r\n0\r\n\r\n',
  '0\r\n\r\n',
  '0\r\nA: b\r\n\r\n',
  '5;a=b\r\nhello\r\n0\r\n\r\n',
  '5\nhello\n0\n\n',
  'zz\r\nhello\r\n',
  'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n',
)

const requestsOf = ({ path, token }: Known) =>
  fc
    .record({
      beginning: beginnings,
      method: methods,
      target: targetsOf(path),
      version: versions,
      host: rarely('Host: tally', ''),
      key: rarely(`X-Api-Key: ${token}`, 'X-Api-Key: tally_x', 'X-Api-Key:'),
      more: fc.oneof(fc.constant([]), headersOf(token)),
      end: lineEnds,
      body: bodies,
    })
    .map(({ beginning, method, target, version, host, key, more, end, body }) => {
      const lines = [host, key, ...more].filter(line => line !== '')
      return `${beginning}${[`${method} ${target} ${version}`, ...lines, '', ''].join(end)}${body}`
    })

/** A change of one byte, or none. */
const mutations = fc.option(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    removed: fc.constantFrom(0, 1, 2),
    added: fc.constantFrom('', ' ', '\r', '\n', '\r\n', '\0', ':', '\t', 'X', '\xff'),
  }),
  { freq: 3 },
)

/** Requests that are plain, odd, hostile or mutated, pipelined, cut into segments anywhere. */
export function conversationsOf(known: Known): fc.Arbitrary<Conversation> {
  const plain = `GET ${known.path} HTTP/1.1\r\nHost: tally\r\nX-Api-Key: ${known.token}\r\n\r\n`
  const mutated = fc.tuple(requestsOf(known), mutations).map(([request, mutation]) => {
    if (mutation === null) return request
    const at = Math.floor(mutation.at * request.length)
    return request.slice(0, at) + mutation.added + request.slice(at + mutation.removed)
  })
  const piece = fc.oneof(fc.constant(plain), mutated)
  return fc.record({
    pieces: fc.array(piece, { minLength: 1, maxLength: 4 }),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
  })
}
