import { ask } from '@tally/testkit/processes/http'
import { startTally, type Tally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { openRelay, type Relay } from '@tally/testkit/servers/relay'
import { until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'

/** A Redis that answers with old documents: no query process may use them. */
const sagra = newFestival()
let relay: Relay
let tally: Tally
let token: string
let address: string
let known = 0

beforeAll(async () => {
  const { redisUrl } = inject('servers')
  relay = await openRelay(redisUrl)
  // The projector reaches Redis through the relay, query processes directly.
  tally = await startTally({ queries: 0, settings: { REDIS_URL: relay.through(redisUrl) } })
  await sell()
  await tally.produce([sagra.organization(), sagra.event()])
  await tally.settle()
  token = await tally.key(sagra.organizationId)
  address = await startQuery()
})
afterAll(async () => {
  await tally?.stop()
  await relay?.close()
})

const startQuery = async () => (await tally.startQuery({ REDIS_URL: inject('servers').redisUrl })).address
const kpisOf = async (at: string) => {
  const { status, body } = await ask(at, `${sagra.path}/analytics/kpis`, { token })
  expect(status).toBe(200)
  return { total: body.data.totalOrders as number, asOfMs: Date.parse(body.meta.asOf) }
}
const namesOf = async (at: string) => {
  const list = await ask(at, '/api/v1/events', { token })
  const event = await ask(at, sagra.path, { token })
  return [list.body.data[0].name, event.body.data.name]
}
const sell = async () => {
  await tally.produce([sagra.order()])
  known += 1
}

test('if the projector cannot write to Redis, answers contain what it counts within 5 s, and lists of events what it knows', async () => {
  expect((await kpisOf(address)).total).toBe(known)
  await relay.cut()
  await sell()
  await until('the sale is counted', async () => (await kpisOf(address)).total === known, 5_000)
  const { asOfMs } = await kpisOf(address)
  await until('asOf advances', async () => (await kpisOf(address)).asOfMs > asOfMs + 1_000)
  await tally.produce([sagra.event({ version: 2, name: 'Renamed' })])
  await until('both know the name', async () => (await namesOf(address)).join() === 'Renamed,Renamed', 5_000)
  await relay.mend()
  await tally.settle()
  expect((await kpisOf(address)).total).toBe(known)
})
