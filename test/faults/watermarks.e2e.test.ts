import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inside, openProducer, partitionOf, topicNames } from '@tally/kafka'
import { startProcess } from '@tally/testkit/processes/process'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasWrongClocks, wrongClock } from '../chaos/system/clock.ts'

/** docs/reliability.md, Clocks: asOf never claims uncounted records, whatever a producer or a clock does. */
const tally = useTally({ partitions: 2 })
const sagra = newFestival()
const folder = mkdtempSync(join(tmpdir(), 'tally-clock-'))
let token: string
const names = () => topicNames(tally.settings.TOPIC_PREFIX ?? '')

beforeAll(async () => {
  await tally.count([sagra.organization(), sagra.event(), sagra.order()])
  token = await tally.key(sagra.organizationId)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function kpis() {
  const { body } = await tally.get(`${sagra.path}/analytics/kpis`, { token })
  return { orders: body.data.totalOrders as number, asOfMs: Date.parse(body.meta.asOf) }
}

const untilAsOf = (afterMs: number) => until('asOf advances', async () => (await kpis()).asOfMs > afterMs)

test.each([3_600, -3_600])(
  'a projector whose clock is %i s off takes asOf from the database’s clock',
  async seconds => {
    expect(await hasWrongClocks(() => {})).toBe(true)
    for (const projector of tally.projectors.splice(0)) await projector.end('SIGTERM')
    const wrong = startProcess(['projector'], { ...tally.settings, ...wrongClock(folder, seconds).env })
    await wrong.started()
    const startedMs = Date.now()
    const { orders } = await kpis()
    await tally.produce([sagra.order()])
    await until('asOf advances', async () => {
      const answer = await kpis()
      expect(answer.asOfMs).toBeLessThanOrEqual(Date.now())
      return answer.asOfMs > startedMs && answer.orders === orders + 1
    })
    await wrong.end('SIGTERM')
    await tally.startProjector()
    await tally.settle()
  },
)

test.each([
  [3_600, 600_000, 200],
  [-3_600, 2_000, 401],
])(
  'a query process whose clock is %i s off finds a key expired by the database’s clock',
  async (seconds, validMs, status) => {
    expect(await hasWrongClocks(() => {})).toBe(true)
    const { address, process } = await tally.startQuery(wrongClock(folder, seconds).env)
    const token = await tally.key(sagra.organizationId, { expiresAt: Date.now() + validMs })
    const answer = () => fetch(address + sagra.path, { headers: { 'X-Api-Key': token } })
    await until(`the answer is ${status}`, async () => (await answer()).status === status)
    await process.end('SIGTERM')
  },
)

test('records that another partitioner placed in another partition count, and asOf waits for that partition', async () => {
  const { orders } = names()
  const home = partitionOf(Buffer.from(sagra.eventId), 2)
  const before = await kpis()
  const producer = await openProducer(tally.kafka)
  const elsewhere = () => ({
    topic: orders,
    key: sagra.eventId,
    partition: 1 - home,
    value: JSON.stringify(sagra.order().value),
  })
  await producer.send([elsewhere()])
  await until('it is counted', async () => (await kpis()).orders === before.orders + 1)
  const [projector] = tally.projectors
  await projector?.line(({ msg }) => msg?.startsWith('records lie in another partition') ?? false)

  // From now on the other partition limits asOf: an open transaction there stops it for this event too.
  const transactional = inside(tally.kafka).kafka.producer({
    transactionalId: `${sagra.eventId}-2`,
    maxInFlightRequests: 1,
  })
  await transactional.connect()
  const transaction = await transactional.transaction()
  const { key, partition } = elsewhere()
  await transaction.send({
    topic: orders,
    messages: [{ key, partition, value: JSON.stringify(sagra.order().value) }],
  })
  await producer.send([elsewhere()])
  const acknowledgedMs = Date.now()
  const fresh = `${tally.settings.REDIS_PREFIX}:shard:{${home}}`
  await tally.produce([sagra.order()])
  await until('what came through its own partition is counted', async () => {
    const answer = await kpis()
    expect(answer.asOfMs).toBeLessThan(acknowledgedMs)
    return answer.orders === before.orders + 2
  })
  expect(Number(await tally.redis.hget(fresh, `as-of:${orders}`))).toBeLessThan(acknowledgedMs)
  await transaction.commit()
  await Promise.all([transactional.disconnect(), producer.close()])
  await untilAsOf(acknowledgedMs)
  expect((await kpis()).orders).toBe(before.orders + 4)
  const logged = projector?.log().split('records lie in another partition').length ?? 0
  expect(logged - 1).toBe(1)
})
