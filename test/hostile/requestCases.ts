import { METHODS } from 'node:http'
import { requestBytes } from './raw.ts'

/** One thing that a client may send; `bytes` goes out as it is. */
export type RequestCase = { what: string; bytes: string }

const list = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index))

/** Requests that are wrong, odd, or far too large; `path` is one that exists and `token` opens it. */
export function requestCases(path: string, token: string): RequestCase[] {
  const makers = openMakers(path, token)
  return [requestLines, headers, bodies, requestTargets].flatMap(make => make(makers))
}

/** `raw`: a case as it is; `get`: a GET with the token and these headers. */
function openMakers(path: string, token: string) {
  const key = `X-Api-Key: ${token}`
  const get = (what: string, target: string, more: string[] = [], body = ''): RequestCase => ({
    what,
    bytes: requestBytes('GET', target, { headers: [key, ...more], body }),
  })
  const raw = (what: string, bytes: string): RequestCase => ({ what, bytes })
  return { path, token, key, get, raw }
}
type Makers = ReturnType<typeof openMakers>

function requestLines({ path, key, raw }: Makers): RequestCase[] {
  return [
    ...[...METHODS, 'get', 'BREW', 'X'.repeat(300), 'GET\t', ''].map(method =>
      raw(`the method ${method.slice(0, 20)}`, requestBytes(method, path, { headers: [key] })),
    ),
    ...['0.9', '1.0', '1.2', '2.0', '3', '1.1.1', ''].map(version =>
      raw(`HTTP/${version}`, requestBytes('GET', path, { headers: [key], version })),
    ),
    raw('HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    raw('a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'.padEnd(517, '\x00')),
    raw('no HTTP at all', `${'\x00\xff'.repeat(2_000)}\r\n\r\n`),
    raw('no Host', `GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`),
    raw('two Hosts', requestBytes('GET', path, { headers: ['Host: other', key] })),
    raw('line feeds alone', `GET ${path} HTTP/1.1\nHost: tally\nConnection: close\n\n`),
    raw('a carriage return alone', `GET ${path} HTTP/1.1\r\nA: b\rC: d\r\nConnection: close\r\n\r\n`),
    raw('a folded header', requestBytes('GET', path, { headers: ['A: b', ' c', key] })),
  ]
}

function headers({ path, key, token, get }: Makers): RequestCase[] {
  return [
    get('64 KiB of one header', path, [`A: ${'a'.repeat(65_536)}`]),
    get('64 KiB of token', path, [`Authorization: Bearer ${'a'.repeat(65_536)}`]),
    get('15 KiB of token', path, [`Authorization: Bearer ${'a '.repeat(7_500)}`]),
    get('64 KiB of spaces', path, [`A:${' '.repeat(65_536)}b`]),
    get('64 KiB of header name', path, [`${'a'.repeat(65_536)}: b`]),
    get(
      'thousands of headers',
      path,
      list(5_000, index => `H${index}: v`),
    ),
    get(
      '3,000 short headers',
      path,
      list(3_000, () => 'a:'),
    ),
    get('a header without a name', path, [': b']),
    get('a header without a colon', path, ['abc']),
    get('NUL in a header', path, ['A: b\0c']),
    get('UTF-8 and Latin-1 in a header', path, ['A: \xc3\xa9 \xe9 \xff', 'X-Request-Id: \xf0\x9f\x8d\x94']),
    get('__proto__ as a header', path, [
      '__proto__: x',
      'constructor: y',
      'toString: z',
      'hasOwnProperty: 1',
    ]),
    get('a token thrice', path, [key, 'X-Api-Key: b', `Authorization: Bearer ${token}`]),
    get('a range', path, ['Range: bytes=99999999-']),
    get('many ranges', path, [`Range: bytes=${list(1_000, index => `${index}-${index}`).join(',')}`]),
    get('15 KiB of If-None-Match', path, [`If-None-Match: ${'"'.repeat(7_500)}${'W/'.repeat(3_500)}`]),
    get('a broken If-None-Match', path, ['If-None-Match: W/"']),
    get('conditions of all kinds', path, [
      'If-Match: "x"',
      'If-Modified-Since: no',
      'If-Unmodified-Since: 0',
      'If-Range: x',
    ]),
    get('an upgrade', path, ['Upgrade: websocket', 'Sec-WebSocket-Key: AAAA', 'Sec-WebSocket-Version: 13']),
    get('an upgrade to HTTP/2', path, ['Upgrade: h2c', 'HTTP2-Settings: AAAA']),
    get('a version of the route', path, ['Accept-Version: 9.x', 'Accept: \xff/\xff;q=nine']),
    get('an unknown encoding', path, ['Accept-Encoding: zip;q=-1', 'TE: trailers, x', 'Trailer: A']),
    get('origins and preflights', path, ['Origin: null', 'Access-Control-Request-Method: \xff']),
  ]
}

function bodies({ path, get, raw }: Makers): RequestCase[] {
  return [
    get('a body on GET', path, ['Content-Length: 5', 'Content-Type: application/json'], '{"a":'),
    get('a body of 2 MiB on GET', path, ['Content-Length: 2097152'], 'a'.repeat(2_097_152)),
    get('a length that is none', path, ['Content-Length: nine']),
    get('a negative length', path, ['Content-Length: -1']),
    get('a length beyond 2^64', path, [`Content-Length: ${'9'.repeat(30)}`]),
    get('two lengths', path, ['Content-Length: 0', 'Content-Length: 5'], 'hello'),
    get('a length and chunks', path, ['Content-Length: 4', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    get('chunks and then identity', path, ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'),
    get('an unknown transfer coding', path, ['Transfer-Encoding: \x0bchunked'], '0\r\n\r\n'),
    get('nonsense for chunks', path, ['Transfer-Encoding: chunked'], 'zz\r\nabc\r\n'),
    get('a chunk of 2^60', path, ['Transfer-Encoding: chunked'], `${'f'.repeat(15)}\r\nabc`),
    get(
      '16 KiB of chunk extension',
      path,
      ['Transfer-Encoding: chunked'],
      `1;${'a'.repeat(20_000)}\r\nb\r\n0\r\n\r\n`,
    ),
    get('trailers', path, ['Transfer-Encoding: chunked'], `0\r\n__proto__: x\r\nHost: y\r\n\r\n`),
    get(
      'a smuggled request',
      path,
      ['Content-Length: 0'],
      `GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`,
    ),
    get('Expect: 100-continue', path, ['Expect: 100-continue', 'Content-Length: 3'], 'abc'),
    get('another Expect', path, ['Expect: a-miracle']),
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'].flatMap(method =>
      ['application/json', 'text/\xff', 'multipart/form-data'].map(type =>
        raw(
          `${method} of ${type.slice(0, 20)}`,
          requestBytes(method, path, {
            headers: [`Content-Type: ${type}`, 'Content-Length: 6'],
            body: '{"__pr',
          }),
        ),
      ),
    ),
  ]
}

function requestTargets({ path, get, raw }: Makers): RequestCase[] {
  return [
    ...targets(path).map(([what, target]) => get(what, target)),
    ...targets(path).map(([what, target]) => raw(`HEAD, ${what}`, requestBytes('HEAD', target))),
  ]
}

const escapes = [
  '%',
  '%2',
  '%zz',
  '%00',
  '%2f',
  '%2e%2e',
  '%c3',
  '%c0%af',
  '%ed%a0%80',
  '%f0%9f%8d%94',
  '%ff',
  '%25',
  '%0d%0aA:b',
  '%u0041',
  '%5c',
  '\xe9',
  '\xc3\xa9',
  "'",
  '{}',
  '|',
  '^',
  '"',
  '<script>',
  '\\',
  '`',
  ';',
  '\x7f',
  '\t',
]

/** Request targets: what percent-encoding may hold, at each place of a path or query; long ones; other forms. */
function targets(path: string): [string, string][] {
  const [event = ''] = path.match(/^.*\/events\/[^/]+/) ?? []
  const soup = escapes.flatMap((part): [string, string][] => [
    [`${part} as a path`, `/${part}`],
    [`${part} as an event`, `/api/v1/events/${part}`],
    [`${part} as an order`, `${event}/orders/${part}`],
    [`${part} behind a path`, `${path}${part}`],
    [`${part} as a value`, `${path}?dayId=${part}&areaId=1`],
    [`${part} as a name`, `${path}?${part}=1&dayId=1`],
    [`${part} as a problem`, `/problems/${part}`],
    [`${part} in the reference`, `/docs/${part}`],
    [`${part} as a guide`, `/docs/guide/${part}`],
    [`${part} above the guides`, `/docs/guide/..${part}..${part}package.json`],
  ])
  return [
    ...soup,
    ['another host', `http://elsewhere${path}`],
    ['no slash', 'api/v1/events'],
    ['a star', '*'],
    ['only slashes', '/'.repeat(500)],
    ['dots', `/api/v1/events/../../..${path}`],
    ['a fragment', `${path}#x`],
    ['two question marks', `${path}?dayId=1?areaId=1`],
    ['15 KiB of path', `/${'a'.repeat(15_000)}`],
    ['15 KiB of slashes and dots', '/..'.repeat(5_000)],
    ['15 KiB of order id', `${event}/orders/${'x'.repeat(15_000)}`],
    ['15 KiB of escapes', `${event}/orders/${'%41'.repeat(5_000)}`],
    ['15 KiB of a guide', `/docs/guide/${'a'.repeat(15_000)}`],
    ['64 KiB of path', `/${'a'.repeat(65_536)}`],
    ['64 KiB of query', `${path}?${'a'.repeat(65_536)}`],
    ['15 KiB of value', `${path}?menuItemIds=${'1,'.repeat(7_000)}1`],
    ['thousands of parameters', `${path}?${list(3_000, index => `p${index}`).join('&')}`],
    ['one parameter thousands of times', `${path}?${'a&'.repeat(7_000)}`],
    ['known parameters thousands of times', `${path}?${'dayId=1&'.repeat(1_800)}`],
    [
      '__proto__ and its kin',
      `${path}?__proto__=1&constructor=2&__proto__[a]=3&toString=4&dayId[]=1&dayId[$gt]=1`,
    ],
    ['a token in the URL', `${path}?token=tally_x&api_key=tally_y`],
  ]
}
