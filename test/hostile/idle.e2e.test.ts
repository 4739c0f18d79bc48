import { execFileSync } from 'node:child_process'
import type { Socket } from 'node:net'
import { ask } from '@tally/testkit/processes/http'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'
import { open, requestBytes, statusesOf, talk } from './raw.ts'

const tally = useTally()
const wanted = 10_000
const inOneStep = 500
/** What this process and the server need besides: files, other connections. */
const spare = 500

/** As many as this machine allows a process to hold; logs if that is fewer than wanted. */
function connectionsToOpen(): number {
  const limit = Number(execFileSync('sh', ['-c', 'ulimit -n']).toString())
  if (!(limit < wanted + spare)) return wanted
  console.warn(`${limit - spare} connections in place of ${wanted}: the limit of open files is ${limit}`)
  return limit - spare
}

/** Uses a new connection: an open one would not notice that no more are accepted. */
async function askAnew(address: string, path: string, token: string): Promise<number[]> {
  return statusesOf(await talk(address, requestBytes('GET', path, { headers: [`X-Api-Key: ${token}`] })))
}

/** Memory that the process of a query holds, in bytes, as its own metrics say. */
async function memoryOf(ops: string): Promise<number> {
  const { text } = await ask(ops, '/metrics')
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
}

test('10,000 idle connections: a good request is answered, memory stays bounded', async () => {
  const festival = newFestival()
  await tally.count([festival.organization(), festival.event(), festival.order()])
  const token = await tally.key(festival.organizationId)
  const [{ address, ops }] = tally.queries as [(typeof tally.queries)[0]]
  const path = `${festival.path}/analytics/kpis`
  expect(await askAnew(address, path, token)).toEqual([200])
  const before = await memoryOf(ops)

  const count = connectionsToOpen()
  const sockets: Socket[] = []
  let connected = 0
  try {
    while (sockets.length < count) {
      for (let i = 0; i < Math.min(inOneStep, count); i++) {
        const socket = open(address)
        // Half of them have begun a request.
        const isBegun = sockets.push(socket) % 2 === 0
        socket
          .on('error', () => {})
          .on('connect', () => {
            connected++
            if (isBegun) socket.write('GET /api/v1/events HTTP/1.1\r\nHost:')
          })
      }
      await until(`${sockets.length} connections are open`, () => connected >= sockets.length)
      expect(await askAnew(address, path, token)).toEqual([200])
    }
    const perConnection = ((await memoryOf(ops)) - before) / count
    expect(perConnection).toBeLessThan(40 * 1024)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
  expect(await askAnew(address, path, token)).toEqual([200])
})
