import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@tally/schema'
import { ask } from '@tally/testkit/processes/http'
import { type Environment, startProcess, type TallyProcess } from '@tally/testkit/processes/process'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { freshDatabase } from '@tally/testkit/servers/database'
import { openRelay, type Relay } from '@tally/testkit/servers/relay'
import { until } from '@tally/testkit/until'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

/** docs/reliability.md, When a part is down: a part is down, black-holed, or has no name when a process starts. */
const tally = useTally()
const sagra = newFestival()
const folder = mkdtempSync(join(tmpdir(), 'tally-start-'))
let token: string
const relays = {} as Record<'postgres' | 'redis' | 'kafka', Relay>
const started: TallyProcess[] = []

beforeAll(async () => {
  const { DATABASE_URL = '', REDIS_URL = '', KAFKA_BROKERS = '' } = tally.settings
  relays.postgres = await openRelay(DATABASE_URL)
  relays.redis = await openRelay(REDIS_URL)
  relays.kafka = await openRelay(`kafka://${KAFKA_BROKERS}`)
  await tally.count([sagra.organization(), sagra.event(), sagra.order()])
  token = await tally.key(sagra.organizationId)
  expect((await tally.get(`${sagra.path}/analytics/kpis`, { token })).status).toBe(200)
})
afterEach(async () => {
  for (const process of started.splice(0)) await process.end()
  for (const relay of Object.values(relays)) await relay.mend()
})
afterAll(async () => {
  for (const relay of Object.values(relays)) await relay.close()
  rmSync(folder, { recursive: true, force: true })
})

const postgresThrough = (hostname?: string): Environment => ({
  DATABASE_URL: relays.postgres.through(tally.database.url, hostname),
})
/** A name of Postgres that resolves while a file is there. */
const postgresWhile = (file: string): Environment => ({
  ...postgresThrough('db.festival.test'),
  NODE_OPTIONS: `--import ${join(import.meta.dirname, 'fixtures/resolver.mjs')}`,
  RESOLVES_WITH: file,
})
const redisThrough = () => ({ REDIS_URL: relays.redis.through(tally.settings.REDIS_URL ?? '') })
const kafkaThrough = () => ({ KAFKA_BROKERS: `127.0.0.1:${relays.kafka.port}` })

/** Starts a process and asks its ops port, which must be open before anything else. */
async function start(command: 'projector' | 'query' | 'admin', settings: Environment) {
  const process = startProcess([command], { ...tally.settings, ...settings })
  started.push(process)
  const { ops = '' } = await process.line(({ msg }) => msg === `${command} starting`)
  const ready = () => ask(ops, '/readyz')
  return {
    process,
    ready,
    live: async () => (await ask(ops, '/livez')).status,
    untilReady: () => until(`the ${command} is ready`, async () => (await ready()).status === 200),
    untilWaits: async (part: string) => {
      await process.line(({ msg }) => String(msg).startsWith(`${part} does not answer (`))
      expect((await ready()).status).toBe(503)
    },
  }
}
type Started = Awaited<ReturnType<typeof start>>

/** How often the log says that the process waits for this reason. */
const waits = ({ process }: Started, reason: string): number =>
  process
    .log()
    .split('\n')
    .filter(line => line.includes(' does not answer (') && line.includes(reason)).length

test('a projector whose Postgres has no DNS name yet stays up, logs it, and counts as soon as the name resolves', async () => {
  const file = join(folder, 'resolves')
  const projector = await start('projector', postgresWhile(file))
  await projector.untilWaits('Postgres')
  const { body } = await projector.ready()
  expect(body.missing).toBe('waiting for Postgres (getaddrinfo EAI_AGAIN db.festival.test)')
  expect(await projector.live()).toBe(200)
  writeFileSync(file, '')
  await projector.untilReady()
  expect(waits(projector, 'EAI_AGAIN'), 'it is logged once').toBe(1)
})

test('a projector whose Postgres name stops resolving while it works continues', async () => {
  const file = join(folder, 'lost')
  writeFileSync(file, '')
  await tally.projectors[0]?.end()
  const projector = await start('projector', postgresWhile(file))
  await projector.untilReady()
  rmSync(file)
  await relays.postgres.cut()
  await relays.postgres.mend()
  await tally.produce([sagra.order()])
  await projector.process.line(({ msg }) => /^Postgres does not answer .*EAI_AGAIN/.test(String(msg)))
  writeFileSync(file, '')
  await tally.settle()
  const { body } = await tally.get(`${sagra.path}/analytics/kpis`, { token })
  expect(body.data.totalOrders).toBe(2)
})

test('a projector that starts before Postgres and Kafka becomes ready without a restart when both are up', async () => {
  await relays.postgres.cut()
  await relays.kafka.cut()
  const projector = await start('projector', { ...postgresThrough(), ...kafkaThrough() })
  await projector.untilWaits('Postgres')
  await projector.untilWaits('Kafka')
  expect((await projector.ready()).body.missing).toMatch(/^waiting for Postgres \(.+\) and Kafka \(.+\)$/)
  await relays.postgres.mend()
  await projector.process.line(({ msg = '' }) => msg.startsWith('Postgres answers again'))
  expect((await projector.ready()).status).toBe(503)
  expect(await projector.live()).toBe(200)
  await relays.kafka.mend()
  await projector.untilReady()
})

test('a query process whose Postgres is down is ready, answers from Redis, and lists orders once Postgres is up', async () => {
  await relays.postgres.cut()
  const query = await start('query', postgresThrough())
  const { address } = await query.process.started()
  const { status, body } = await ask(address, `${sagra.path}/analytics/kpis`, { token })
  expect([status, body.data?.totalOrders]).toEqual([200, 2])
  expect((await ask(address, `${sagra.path}/orders`, { token })).status).toBe(503)
  expect((await query.ready()).status, 'Redis is enough').toBe(200)
  await relays.postgres.mend()
  await query.process.line(({ msg = '' }) => msg.startsWith('Postgres answers again'))
  await until(
    'orders are listed',
    async () => (await ask(address, `${sagra.path}/orders`, { token })).status === 200,
  )
})

test.each(['refuses', 'hangs'])(
  'a query process whose Redis %s at its start answers from Postgres',
  async how => {
    if (how === 'refuses') await relays.redis.cut()
    else relays.redis.stall()
    const query = await start('query', redisThrough())
    const { address } = await query.process.started()
    for (const path of ['', '/analytics/kpis', '/orders'])
      expect((await ask(address, sagra.path + path, { token })).status).toBe(200)
    expect((await query.ready()).status, 'Postgres is enough').toBe(200)
  },
)

test('a query process without Redis and Postgres is live, answers 503, and is ready when one of them is up', async () => {
  await relays.redis.cut()
  await relays.postgres.cut()
  const query = await start('query', { ...postgresThrough(), ...redisThrough() })
  const { address } = await query.process.started()
  expect((await ask(address, sagra.path, { token })).status).toBe(503)
  const { status, body } = await query.ready()
  expect({ status, missing: body.missing }).toEqual({
    status: 503,
    missing: expect.stringMatching(/^neither Redis \(.+\) nor Postgres \(.+\) answers$/),
  })
  expect(await query.live()).toBe(200)
  await relays.redis.mend()
  await query.untilReady()
  await until(
    'kpis come from Redis',
    async () => (await ask(address, `${sagra.path}/analytics/kpis`, { token })).status === 200,
  )
  await relays.postgres.mend()
  await query.process.line(({ msg = '' }) => msg.startsWith('Postgres answers again'))
})

test('the administration area without Postgres is live, shows it, and is ready only while Postgres is up', async () => {
  await relays.postgres.cut()
  const admin = await start('admin', postgresThrough())
  await admin.untilWaits('Postgres')
  expect((await admin.ready()).body.missing).toMatch(/^waiting for Postgres \(.+\)$/)
  expect(await admin.live()).toBe(200)
  await relays.postgres.mend()
  await admin.untilReady()
  await relays.postgres.cut()
  const { status, body } = await admin.ready()
  expect(status).toBe(503)
  expect(body.missing).toMatch(/^waiting for Postgres \(.+\)$/)
})

test.each(['projector', 'query', 'admin'] as const)(
  'a %s that waits for hanging parts exits with 0 within 10 s of a SIGTERM',
  async command => {
    for (const relay of Object.values(relays)) relay.stall()
    const waiting = await start(command, { ...postgresThrough(), ...redisThrough(), ...kafkaThrough() })
    await waiting.untilWaits('Postgres')
    const began = performance.now()
    expect(await waiting.process.end()).toBe(0)
    expect(performance.now() - began).toBeLessThan(10_000)
  },
)

test('a missing schema ends a process that waited for Postgres, with the command to run', async () => {
  const empty = await freshDatabase({ migrated: false })
  await relays.postgres.cut()
  const settings = { DATABASE_URL: relays.postgres.through(empty.url) }
  const all = await Promise.all(
    (['projector', 'query', 'admin'] as const).map(command => start(command, settings)),
  )
  // The query process may be ready meanwhile: Redis is enough.
  for (const { process } of all)
    await process.line(({ msg }) => String(msg).startsWith('Postgres does not answer ('))
  await relays.postgres.mend()
  for (const { process } of all) {
    expect(await process.ended).toBe(1)
    expect(process.log()).toContain('run `tally migrate` first')
  }
  await migrate(empty.db)
  await empty.drop()
})

test('a missing topic ends a projector at once if Kafka answers, even without Postgres', async () => {
  await relays.postgres.cut()
  const { process } = await start('projector', { ...postgresThrough(), TOPIC_PREFIX: 'nobody-made-these' })
  expect(await process.ended).toBe(1)
  expect(process.log()).toContain('are not there: run `tally topics create`')
})
