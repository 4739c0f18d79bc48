import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { newFestival } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'
import { listenTo, open, statusesOf } from './raw.ts'

const tally = useSharedTally()

/** A whole request has to come within 10 s (app.ts), looked at every few seconds; the rest is for a busy machine. */
const boundMs = 10_000
const marginMs = 35_000

/** Sends a beginning, then `drip` every second, until the server hangs up; what was heard and how long it took. */
function crawl(address: string, beginning: string, drip: string): Promise<{ text: string; tookMs: number }> {
  const began = performance.now()
  const { promise, resolve } = Promise.withResolvers<{ text: string; tookMs: number }>()
  const socket = open(address)
  const heard = listenTo(socket)
  const dripping = setInterval(() => socket.write(drip), 1_000)
  socket
    .on('error', () => {})
    .on('close', () => {
      clearInterval(dripping)
      resolve({ ...heard, tookMs: performance.now() - began })
    })
  socket.write(beginning)
  return promise
}

test('a request that does not end is cut off, its headers with a 408, and others are answered meanwhile', async () => {
  const festival = newFestival()
  await tally.count([festival.organization(), festival.event(), festival.order()])
  const token = await tally.key(festival.organizationId)
  const address = tally.queries[0]?.address as string
  const begin = (method: string) =>
    `${method} ${festival.path} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${token}\r\n`
  const crawling = Promise.all([
    crawl(address, '', ''),
    crawl(address, begin('GET'), ''),
    crawl(address, begin('GET'), 'A: b\r\n'),
    crawl(address, `${begin('GET')}Content-Length: 1000\r\n\r\n`, 'a'),
    crawl(address, `${begin('POST')}Content-Length: 1000\r\n\r\n`, 'a'),
    crawl(address, `${begin('GET')}Transfer-Encoding: chunked\r\n\r\n`, '1\r\na\r\n'),
    crawl(address, `${begin('GET')}Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n`, ''),
  ])
  expect((await tally.get(festival.path, { token })).status).toBe(200)

  const ended = await crawling
  for (const { text, tookMs } of ended) {
    expect(tookMs).toBeLessThan(boundMs + marginMs)
    expect(statusesOf({ text }).filter(status => status >= 500)).toEqual([])
  }
  const dripped = ended[2]?.text ?? ''
  expect(statusesOf({ text: dripped })).toEqual([408])
  expect(dripped).toContain('application/problem+json')
  expect(dripped).toContain('"/problems/request-timeout"')
  expect((await tally.get(festival.path, { token })).status).toBe(200)
})
