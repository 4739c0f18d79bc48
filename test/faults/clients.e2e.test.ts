import { makeToken } from '@tally/access'
import { ask } from '@tally/testkit/processes/http'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { open, requestBytes, statusesOf } from '../hostile/raw.ts'

/** Rows of docs/reliability.md, Clients; the others are tested in services/query. */
const tally = useTally({ queries: 0 })
const sagra = newFestival()
const verbena = newFestival()
let tokens: { sagra: string; verbena: string }
const kpisOf = (festival: { path: string }) => `${festival.path}/analytics/kpis`

beforeAll(async () => {
  for (const festival of [sagra, verbena])
    await tally.count([festival.organization(), festival.event(), festival.order({ orderId: 'one' })])
  tokens = { sagra: await tally.key(sagra.organizationId), verbena: await tally.key(verbena.organizationId) }
})

test('hanging reads starve neither authentication nor other organizations, and end in a 503', async () => {
  const alone = await tally.startQuery({ REDIS_URL: 'redis://127.0.0.1:1' })
  const statusOf = async (path: string, token: string) => (await ask(alone.address, path, { token })).status
  expect(await statusOf('/api/v1/events', tokens.verbena)).toBe(200)
  expect(await statusOf('/api/v1/events', tokens.sagra)).toBe(200)
  await tally.database.db.transaction().execute(async tx => {
    await sql`lock table event_heads in access exclusive mode`.execute(tx)
    const hanging = Array.from({ length: 40 }, () => statusOf(kpisOf(newFestival()), tokens.sagra))
    const began = performance.now()
    let ended = 0
    for (const one of hanging) void one.then(() => ended++)
    expect(await statusOf(kpisOf(sagra), makeToken().token)).toBe(401)
    expect(await statusOf('/api/v1/events', tokens.verbena)).toBe(200)
    // Had they waited for a place, a read that hangs would have ended before: none was answered yet.
    expect(ended).toBe(0)
    expect(await Promise.race(hanging)).toBe(503)
    // About 4 s; twice that on a busy machine.
    expect(performance.now() - began).toBeLessThan(8_000)
  })
  expect(alone.process.log().match(/"level":40.*could not answer a read \(too many reads/g)).toHaveLength(1)
})

test('connections beyond QUERY_MAX_CONNECTIONS are closed, and open ones are served', async () => {
  const bounded = await tally.startQuery({ QUERY_MAX_CONNECTIONS: '20' })
  const closed = new Set<unknown>()
  const sockets = Array.from({ length: 30 }, () => {
    const socket = open(bounded.address)
    return socket.on('error', () => {}).on('close', () => closed.add(socket))
  })
  await until('ten are closed', () => closed.size === 10)
  const kept = sockets.find(socket => !closed.has(socket))
  const answered = new Promise<string>(resolve =>
    kept?.once('data', bytes => resolve(bytes.toString('latin1'))),
  )
  kept?.write(`GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n`)
  expect(await answered).toMatch(/^HTTP\/1.1 200 /)
  const { text } = await ask(bounded.ops, '/metrics')
  expect(text).toContain('tally_query_dropped_connections_total 10')
  for (const socket of sockets) socket.destroy()
})

test('a thousand devices that connect at once while the process stands still are all accepted and answered', async () => {
  const busy = await tally.startQuery()
  const request = requestBytes('GET', kpisOf(sagra), { headers: [`X-Api-Key: ${tokens.sagra}`] })
  const statuses: number[] = []
  let connected = 0
  process.kill(busy.process.pid, 'SIGSTOP')
  const sockets = Array.from({ length: 1_000 }, () =>
    open(busy.address)
      .on('error', () => {})
      .on('connect', () => connected++)
      .once('data', bytes => statuses.push(...statusesOf({ text: bytes.toString('latin1') }))),
  )
  try {
    for (const socket of sockets) socket.write(request)
    await until('all are connected (net.core.somaxconn has to be 1,000 or more)', () => connected === 1_000)
  } finally {
    process.kill(busy.process.pid, 'SIGCONT')
  }
  await until('all are answered', () => statuses.length === 1_000)
  expect(new Set(statuses)).toEqual(new Set([200]))
  for (const socket of sockets) socket.destroy()
})
