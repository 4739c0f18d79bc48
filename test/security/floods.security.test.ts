import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createAdministrator, hashPassword } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival, saturday } from '@tally/testkit/records/festival'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { programPath } from '#infra/install/programs.ts'
import { memoryOf } from '../bench/tally/memoryOf.ts'
import { useAdministration } from '../hostile/administration.ts'
import { startProxy } from '../integrations/proxies.ts'
import { polls } from './polls.ts'

/** How long each pattern floods each port: `TALLY_FLOOD_SECONDS=60` finds more, in about 75 minutes. */
const seconds = Number(process.env.TALLY_FLOOD_SECONDS || 12)
/** What a process may take: 300 MiB, and the 48 that may be unread (docs/security.md, Limits on answers). */
const ceilingMiB = 348
/**
 * On a machine that nothing else uses. While the area's files are made again and again, they and Postgres take the
 * processors of a small one. What else runs on it only adds to it: the shortest of three attempts counts.
 */
const longestP99Ms = { repeats: 100, others: 50 }

const everyPattern = ['junk', 'pipelined', 'garbage', 'unread', 'slow', 'resets', 'repeats']
const ports = {
  api: [...everyPattern, 'unread-key'],
  admin: [...everyPattern, 'unread-key'],
  stream: ['unread-key', 'resets'],
  queryOps: everyPattern,
  projectorOps: everyPattern,
  adminOps: everyPattern,
}
type Port = keyof typeof ports
/** Proxies speak to the API and the area; `direct` is a plain socket. */
const cases = (Object.keys(ports) as Port[]).flatMap(port => {
  const ways =
    port === 'api' || port === 'admin' ? (['direct', 'nginx', 'haproxy'] as const) : (['direct'] as const)
  return ways.flatMap(way => ports[port].map(pattern => ({ port, way, pattern })))
})

type Target = {
  pid: number
  address: string
  /** What a flood asks for, and the header lines of its key or session. */
  targets: string[]
  key: string
  /** What the other client asks for. */
  poll: { path: string; headers: Record<string, string> }
}

const tally = useTally({ settings: { RATE_LIMITS: 'Trial=1000000,ActiveDayPass=1000000,Inactive=1000000' } })
const targets = {} as Record<Port, Target>
const rows: Record<string, string | number>[] = []

beforeAll(async () => {
  const [festival, other] = [newFestival(), newFestival()]
  const items = Array.from({ length: 500 }, (_, index) => ({
    menuItemId: 7 + (index % 3),
    itemName: 'n'.repeat(200),
    quantity: 1,
    unitPrice: 1,
    note: 'o'.repeat(1_000),
  }))
  await tally.count(
    [festival, other].flatMap(({ organization, event, order }) => [organization(), event(), order()]),
  )
  for (let index = 0; index < 20; index += 1) await tally.produce([festival.order({ items })])
  await tally.settle()
  const [key, othersKey] = [await tally.key(festival.organizationId), await tally.key(other.organizationId)]
  const who = {
    email: 'anna@example.org',
    password: 'a long enough password',
    wrong: 'another long password',
  }
  await createAdministrator(tally.database.db, {
    email: who.email,
    organizationId: festival.organizationId as OrganizationId,
    isPlatform: true,
    passwordHash: await hashPassword(who.password),
  })
  const admin = await tally.startAdmin()
  const { session } = await useAdministration(admin.address, who)
  const [query] = tally.queries
  const [projector] = tally.projectors
  if (query === undefined || projector === undefined) throw new Error('Tally has not started')

  const cookie = `Cookie: tally_session=${session}`
  const live = `/live/stream?eventId=${festival.eventId}&day=${saturday}`
  const day = `eventId=${festival.eventId}&day=${saturday}`
  const signIn = { path: '/sign-in', headers: {} }
  const area = { pid: admin.process.pid, address: admin.address, key: cookie, poll: signIn }
  const orders = `${festival.path}/orders?pageSize=`
  targets.api = {
    pid: query.process.pid,
    address: query.address,
    targets: [`${orders}8`, `${orders}100`, '/docs', '/api/v1/openapi.json'],
    key: `X-Api-Key: ${key}`,
    poll: { path: `${other.path}/live/item-counts`, headers: { 'X-Api-Key': othersKey } },
  }
  targets.admin = {
    ...area,
    targets: [`/live/orders.csv?${day}`, '/audit.csv', '/operations', '/keys', '/sign-in'],
  }
  targets.stream = { ...area, targets: [live] }
  const ops = { targets: ['/metrics'], key: '', poll: { path: '/livez', headers: {} } }
  targets.queryOps = { pid: query.process.pid, address: query.ops, ...ops }
  targets.projectorOps = { pid: projector.pid, address: (await projector.started()).ops, ...ops }
  targets.adminOps = { pid: admin.process.pid, address: admin.ops, ...ops }
})
afterAll(() => {
  if (rows.length > 0) console.table(rows)
})

test.for(cases)('$port, $way: $pattern', async chosen => {
  const longestMs = chosen.pattern === 'repeats' ? longestP99Ms.repeats : longestP99Ms.others
  const attempts: number[] = []
  do {
    const { statuses, most, p99, slower } = await answeredUnder(chosen)
    expect(statuses).toEqual([200])
    expect(most).toBeLessThan(ceilingMiB)
    attempts.push(p99 / Math.max(1, slower))
  } while (attempts.length < 3 && Math.min(...attempts) >= longestMs)
  expect(Math.min(...attempts)).toBeLessThan(longestMs)
})

const text = JSON.stringify(
  Array.from({ length: 2_000 }, (_, id) => ({ id, name: 'n'.repeat(50), at: [id, id] })),
)

/** By how much a piece of work takes longer now than the 12 ms of a quiet machine. */
function slowness(): number {
  const tookMs = Array.from({ length: 41 }, () => {
    const began = performance.now()
    for (let time = 0; time < 10; time++) JSON.stringify(JSON.parse(text))
    return performance.now() - began
  })
  return (tookMs.toSorted((one, other) => one - other)[20] ?? Number.NaN) / 12
}

/** How another client was answered during a flood, and the most that the process took, in MiB. */
async function answeredUnder({ port, way, pattern }: (typeof cases)[number]) {
  const target = targets[port]
  const before = slowness()
  const direct = Number(new URL(target.address).port)
  const proxy = way === 'direct' ? undefined : await startProxy(way, { behind: target.address, isLast: true })
  const { path, headers } = target.poll
  const polling = polls(target.address, path, headers)
  const flood = floodWith(pattern, proxy === undefined ? direct : Number(new URL(proxy.address).port), target)
  let most = 0
  let isOver = false
  const watching = (async () => {
    for (; !isOver; await sleep(50)) most = Math.max(most, memoryOf(target.pid).now)
  })()
  const flooded = await flood
  const { p50, p99, statuses } = await polling.stop()
  isOver = true
  await watching
  await proxy?.stop()
  const slower = (before + slowness()) / 2
  const measured = { MiB: Math.round(most), p50: tenth(p50), p99: tenth(p99), slower: tenth(slower) }
  rows.push({ port, way, pattern, ...flooded, ...measured })
  return { statuses, most, p99, slower }
}

const tenth = (ms: number): number => Number(ms.toFixed(1))

/** Floods from a process that has the processors last: on two of them it would take them from whom it floods. */
async function floodWith(pattern: string, port: number, { targets, key }: Target) {
  const program = { names: ['python3'], debianPackage: 'python3', neededBy: 'the floods' }
  const python = await programPath(program, line => console.error(line))
  const file = join(import.meta.dirname, 'flood.py')
  const args = [python, file, '127.0.0.1', String(port), pattern, String(seconds), key, ...targets]
  const { stdout } = await promisify(execFile)('nice', ['-n', '19', ...args])
  const [connections, sent, received] = stdout.trim().split(' ').map(Number)
  return { connections: connections ?? 0, 'MiB sent': sent ?? 0, 'MiB received': received ?? 0 }
}
