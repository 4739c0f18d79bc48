import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'
import { type Heard, requestBytes, statusesOf, talk } from './raw.ts'
import { requestCases } from './requestCases.ts'

const tally = useTally()
const festival = newFestival()
const path = `${festival.path}/analytics/kpis`
let token: string
let address: string

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event(), festival.order()])
  token = await tally.key(festival.organizationId)
  address = tally.queries[0]?.address as string
})

/** What is wrong with the answers to a hostile client; empty if nothing is. */
function faultsOf(heard: Heard): string[] {
  const replies = heard.text
    .split(/(?=HTTP\/1\.[01] \d{3} )/)
    .filter(reply => !reply.startsWith('HTTP/1.1 100'))
  return [
    ...(heard.closed ? [] : ['the connection hangs']),
    ...statusesOf(heard)
      .filter(status => status >= 500)
      .map(status => `a ${status}`),
    ...replies
      .filter(reply => reply !== '' && !/\r\nx-request-id: /i.test(reply.split('\r\n\r\n')[0] ?? ''))
      .map(reply => `no X-Request-Id: ${reply.slice(0, 60)}`),
  ]
}

async function expectGoodAnswer(): Promise<void> {
  const { status, body } = await tally.get(path, { token })
  expect({ status, orders: body.data.totalOrders }).toEqual({ status: 200, orders: 1 })
}

test('whatever is sent: no 5xx, no hang, an X-Request-Id on each answer, and the next one is answered', async () => {
  const cases = requestCases(path, token)
  const wrong: string[] = []
  for (let from = 0; from < cases.length; from += 16) {
    const some = cases.slice(from, from + 16)
    const heard = await Promise.all(some.map(({ bytes }) => talk(address, bytes)))
    heard.forEach((one, index) => {
      for (const fault of faultsOf(one)) wrong.push(`${some[index]?.what}: ${fault}`)
    })
    await expectGoodAnswer()
  }
  expect(wrong).toEqual([])
})

test('requests that come together are answered in their order', async () => {
  const one = `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${token}\r\n\r\n`
  const none = `GET ${path}?dayId=x HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${token}\r\n\r\n`
  const heard = await talk(address, (one + none).repeat(50) + requestBytes('GET', '/no'))

  expect(statusesOf(heard)).toEqual([...Array.from({ length: 50 }, () => [200, 400]).flat(), 404])
  expect(heard.closed).toBe(true)
})

test('an expectation of 100-continue leaves the answer before it whole, and closes the connection with its own', async () => {
  const one = `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${token}\r\n\r\n`
  const expecting = 'GET /api/v1/events/x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n'
  const { text, closed } = await talk(address, one + expecting)

  expect(statusesOf({ text })).toEqual([200, 401])
  expect(JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n')))).toMatchObject({ status: 401 })
  expect(closed).toBe(true)
})

test('a client that closes its half at once, or goes away, leaves nothing open and disturbs no other client', async () => {
  const good = requestBytes('GET', path, { headers: [`X-Api-Key: ${token}`] })
  const halves = [
    '',
    good.slice(0, 30),
    good,
    good.repeat(20),
    requestBytes('POST', path, { headers: ['Content-Length: 9'] }),
  ]
  const heard = await Promise.all(halves.map(bytes => talk(address, bytes, { halfClose: true })))
  expect(heard.flatMap(faultsOf)).toEqual([])
  await Promise.all(halves.map(bytes => talk(address, bytes, { timeoutMs: 1 })))

  await expectGoodAnswer()
  expect(tally.queries[0]?.process.log()).not.toContain('"level":50')
})
