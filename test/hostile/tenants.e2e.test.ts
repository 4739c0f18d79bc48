import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { eventPaths } from '@tally/testkit/records/eventPaths'
import { type Festival, newFestival } from '@tally/testkit/records/festival'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { ownRecords } from './ownRecords.ts'
import { statusesOf, talk } from './raw.ts'

const tally = useSharedTally()
const seed = Number(process.env.TALLY_SEED ?? Date.now() % 2 ** 31)

/** Two organizations with two events each; days, areas, items, orders and every name are one event's alone. */
const first = newFestival()
const second = newFestival()
const festivals = [
  first,
  newFestival({ organizationId: first.organizationId }),
  second,
  newFestival({ organizationId: second.organizationId }),
]
const marker = (festival: Festival) => `marker-${numberOf(festival)}-of-its-own`
const numberOf = (festival: Festival) => 7_000 + festivals.indexOf(festival)
const tokens: { token: string; sees: Festival[] }[] = []

beforeAll(async () => {
  await tally.count(festivals.flatMap(one => ownRecords(one, numberOf(one), marker(one))))
  for (const [sees, eventId] of [
    [festivals.slice(0, 2), null],
    [festivals.slice(2), null],
    [festivals.slice(1, 2), festivals[1]?.eventId],
    [festivals.slice(2, 3), festivals[2]?.eventId],
  ] as [Festival[], string | null][]) {
    const organizationId = sees[0]?.organizationId as string
    tokens.push({ sees, token: await tally.key(organizationId, { eventId: eventId as never }) })
  }
})

const injections = [
  "'",
  "' or '1'='1",
  '--',
  "';select pg_sleep(9)--",
  '$1',
  '$$',
  '\\',
  '\0',
  'a\0b',
  '}{',
  '*',
  '?',
  '[a-z]*',
  '{x}:y',
  '\r\nGET x\r\n',
  '\r\nX-Api-Key: x',
  "return redis.call('KEYS','*')",
  ']]',
  '%s',
  '../',
  '..%2f',
  '\u2028',
  '\ud83c',
  '0x1',
  '1e3',
]

const paths = [...eventPaths, '/orders/']
const names = 'dayId areaId menuItemIds status page pageSize limit days eventId organizationId'.split(' ')

const some = fc.constantFrom(...festivals)
const foreign = some.chain(festival =>
  fc.constantFrom(
    String(numberOf(festival)),
    `order-${numberOf(festival)}`,
    'same',
    festival.eventId,
    festival.organizationId,
    festival.eventId.toUpperCase(),
    marker(festival),
  ),
)
const value = fc.oneof(
  { weight: 3, arbitrary: foreign },
  { weight: 2, arbitrary: fc.constantFrom(...injections) },
  { weight: 1, arbitrary: fc.tuple(foreign, fc.constantFrom(...injections)).map(pair => pair.join('')) },
  { weight: 1, arbitrary: fc.array(foreign, { maxLength: 3 }).map(list => list.join(',')) },
)
const escaped = value.map(text => encodeURIComponent(text.toWellFormed()))
const request = fc.record({
  key: fc.nat({ max: 3 }),
  place: fc.oneof(
    { weight: 4, arbitrary: some.map(({ eventId }) => eventId) },
    { weight: 1, arbitrary: escaped },
    { weight: 1, arbitrary: fc.constant(undefined) },
  ),
  path: fc.constantFrom(...paths),
  id: escaped,
  query: fc.array(fc.tuple(fc.constantFrom(...names), escaped), { maxLength: 3 }),
  suffix: fc.oneof(
    { weight: 4, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom(...injections) },
  ),
  header: fc.tuple(
    fc.constantFrom('If-None-Match', 'X-Organization-Id', 'Origin', 'X-Request-Id', 'Cookie'),
    value,
  ),
})

type Asked = typeof request extends fc.Arbitrary<infer Value> ? Value : never

/** Bytes as a client sends them, with line ends and NULs in headers if they were drawn. */
function bytesOf(asked: Asked): string {
  const { key, place, path, id, query, suffix, header } = asked
  const [name, text] = header
  const end = path.endsWith('/') ? path + id : path
  const target = `/api/v1/events${place === undefined ? '' : `/${place}${end}`}`
  const search = query.map(([parameter, given]) => `${parameter}=${given}`).join('&')
  return [
    `GET ${target}?${search} HTTP/1.1`,
    'Host: tally',
    `X-Api-Key: ${tokens[key]?.token}${suffix}`,
    `${name}: ${text}`,
    'Connection: close',
    '',
    '',
  ].join('\r\n')
}

test('whatever is asked with whose key: an answer holds nothing of what the key may not see', async () => {
  const seen = new Set<number>()
  const shown = new Set<Festival>()
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 16, maxLength: 16 }), async asked => {
      const heard = await Promise.all(
        asked.map(one => talk(tally.queries[0]?.address as string, bytesOf(one))),
      )
      heard.forEach((one, index) => {
        const sees = tokens[asked[index]?.key as number]?.sees as Festival[]
        const data = dataOf(one.text)
        for (const festival of festivals) {
          if (!sees.includes(festival)) expect(data).not.toContain(marker(festival))
          else if (data.includes(marker(festival))) shown.add(festival)
        }
        for (const status of statusesOf(one)) {
          seen.add(status)
          expect(status).toBeLessThan(500)
        }
        expect(one.closed).toBe(true)
      })
    }),
    { seed, numRuns: 60 },
  )
  for (const status of [200, 400, 401, 404]) expect(seen).toContain(status)
  // A marker that never came to those who may see it would prove nothing.
  expect(shown).toEqual(new Set(festivals))
})

/** The replies without `instance`, which repeats the path of the request. */
const dataOf = (text: string): string => text.replaceAll(/"instance":"(?:[^"\\]|\\.)*"/g, '')
