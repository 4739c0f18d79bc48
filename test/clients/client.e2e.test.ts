import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { installClient, useFolder } from './installClient.ts'
import { nodes } from './nodes.ts'

const tally = useTally({ settings: { RATE_LIMITS: 'Trial=2,ActiveDayPass=1000,Inactive=2' } })
const festival = newFestival()
const { eventId, organizationId } = festival
const order = festival.order()
const made = useFolder()
let adopter: string
let env: Record<string, string>

beforeAll(async () => {
  adopter = await installClient(made, tally.queries[0]?.address)
  await tally.count([festival.organization(), festival.event(), order])
  const TALLY_KEY = await tally.key(organizationId)
  const orderId = order.value.orderId
  env = { TALLY_URL: tally.queries[0]?.address ?? '', TALLY_KEY, EVENT_ID: eventId, ORDER_ID: orderId }
})

const everything = `
import { connect, TallyProblem } from '@tally/client'

const { TALLY_URL: url = '', TALLY_KEY: key = '', EVENT_ID: eventId = '', ORDER_ID: id = '' } = process.env
const tally = connect({ url: url + '/', key })
const day = { eventId, dayId: 42 }
const kpis: number = (await tally.getKpis(day)).data.totalSales
const counts = (await tally.getItemCounts({ eventId, menuItemIds: [9, 11] })).data
const watch = tally.watch('getTopItems', { eventId, limit: 1 }, { signal: AbortSignal.timeout(60_000) })
let watched
for await (const { answer, stale } of watch) {
  watched = [answer?.data[0]?.itemName, stale]
  break
}
const problems: unknown[] = []
const wrong = [tally.getEvent({ eventId: id }), connect({ url, key: 'x' }).listEvents(), tally.getOrder({ eventId, id: 'no' })]
for (const outcome of await Promise.allSettled(wrong)) {
  if (outcome.status === 'fulfilled' || !(outcome.reason instanceof TallyProblem)) throw new Error('no problem')
  problems.push([outcome.reason.problem, outcome.reason.errors.map(({ parameter }) => parameter)])
}
console.log(JSON.stringify({
  events: (await tally.listEvents()).data.map(event => event.id === eventId),
  event: (await tally.getEvent({ eventId })).data.currentDay?.id,
  kpis,
  trend: (await tally.getSalesTrend({ eventId, days: 1 })).data.map(({ orderCount }) => orderCount),
  hours: (await tally.getOrdersByHour(day)).data.map(({ hour }) => hour),
  best: (await tally.getTopItems({ eventId, limit: 1 })).data.map(({ itemName }) => itemName),
  counts: counts.map(({ menuItemId, quantitySold }) => [menuItemId, quantitySold]),
  dayBefore: (await tally.getKpis({ eventId, dayId: 41 })).data.totalSales,
  orders: (await tally.listOrders({ eventId, status: 'Paid', pageSize: 5 })).meta.pagination.pageSize,
  order: (await tally.getOrder({ eventId, id })).data.totalAmount,
  watched,
  problems,
}))
`
const answers = {
  events: [true],
  event: 42,
  kpis: 27.5,
  trend: [1],
  hours: [21],
  best: ['Burger'],
  counts: [
    [9, 1],
    [11, 0],
  ],
  dayBefore: 0,
  orders: 5,
  order: 27.5,
  watched: ['Burger', false],
  problems: [
    ['invalid-parameters', ['eventId']],
    ['unauthorized', []],
    ['not-found', []],
  ],
}

test('an adopter’s program type-checks against the client of a service, and works in Node 20 and in Node 24', async () => {
  writeFileSync(
    join(adopter, 'everything.ts'),
    `declare const process: { env: Record<string, string> }${everything}`,
  )
  const strict = '--strict --module nodenext --target es2022 --lib es2023,dom,dom.iterable'.split(' ')
  const tsc = join(import.meta.dirname, '../../packages/client/node_modules/.bin/tsc')
  await run(tsc, [...strict, 'everything.ts'], { cwd: adopter })

  const tried = []
  for (const { path, version } of await nodes()) {
    const { stdout } = await run(path, ['everything.js'], { cwd: adopter, env })
    expect({ version, ...JSON.parse(stdout) }).toEqual({ version, ...answers })
    tried.push(version)
  }
  expect(tried.length).toBeGreaterThan(0)
})

test('the package has no dependency, and nothing in it but one module, its types and a manifest', async () => {
  const { stdout } = await run('npm', ['ls', '--all', '--json', '--long'], { cwd: adopter })
  const installed = JSON.parse(stdout).dependencies['@tally/client']
  expect(installed.dependencies ?? {}).toEqual({})
  const { stdout: files } = await run('find', ['node_modules/@tally/client', '-type', 'f'], { cwd: adopter })
  const others = files.split('\n').filter(file => !/(\/types\/\w+\.ts|index\.js|package\.json|^)$/.test(file))
  expect(others).toEqual([])
})
