import { createTopics, openProducer, topicNames } from '@tally/kafka'
import { clearStall, noteStall } from '@tally/offsets'
import { deadLetterRecord } from '@tally/testkit/records/deadLetterRecord'
import { asRole } from '@tally/testkit/servers/database'
import { beginTransaction, connectTo } from '@tally/testkit/servers/kafka'
import { openDatabase } from '@tally/testkit/servers/migrated'
import { openRelay } from '@tally/testkit/servers/relay'
import { until } from '@tally/testkit/until'
import { beforeAll, expect, test } from 'vitest'
import { buildAdmin } from '../app.ts'
import {
  csrfOf,
  newOffice,
  newVisitor,
  openFixture,
  password,
  signedIn,
  useFixture,
} from '../test/fixture.ts'
import { takeSample } from './lastHour.ts'

const fixture = useFixture()
let visitor: ReturnType<typeof newVisitor>
beforeAll(async () => {
  const { kafka, topicPrefix } = fixture.deps
  await createTopics(kafka, { topicPrefix, partitions: 2, replicationFactor: 1 })
  visitor = (await signedIn(fixture, { isPlatform: true })).visitor
})

const page = async () => (await visitor.get('/operations')).body.replace(/\s+/g, ' ')
const names = () => topicNames(fixture.deps.topicPrefix)

async function send(
  records: { topic: string; key: string; value: string | null; headers?: object }[],
): Promise<void> {
  const producer = await openProducer(fixture.deps.kafka)
  await producer
    .send(records.map(record => ({ headers: {}, ...record })) as never)
    .finally(() => producer.close())
}

async function reject(...offsets: number[]): Promise<void> {
  const deadLetters = offsets.map(offset => deadLetterRecord(names().orders, { offset }))
  const producer = await openProducer(fixture.deps.kafka)
  await producer
    .send(deadLetters.map(({ key, value, headers }) => ({ topic: names().deadLetters, key, value, headers })))
    .finally(() => producer.close())
}

test('administrators who are not of the platform team get a 404', async () => {
  const { email } = await newOffice(fixture)
  const other = newVisitor(fixture.app)
  await other.signIn(email)
  expect((await other.get('/operations')).statusCode).toBe(404)
  expect((await other.get('/keys')).body).not.toContain('/operations')
  const replay = await other.post('/operations/replay', { all: 'yes' }, { from: '/keys/new' })
  expect(replay.statusCode).toBe(404)
})

test('each shard’s lag and age are shown', async () => {
  const { db } = fixture
  const { events, orders, refunds } = names()
  const at = (agoMs: number) => new Date(Date.now() - agoMs).toISOString()
  for (const [partition, ageMs] of [1_000, 60_000].entries()) {
    for (const topic of [events, orders, refunds]) {
      await db.insertInto('shard_offsets').values({ topic, partition, next_offset: 0, revision: 0 }).execute()
      await db
        .insertInto('shard_watermarks')
        .values({ topic, partition, as_of: at(ageMs), caught_up_to: null, published_up_to: null })
        .execute()
    }
  }
  const before = await page()
  expect(before).toMatch(/"Shard">0<\/th> <td[^>]*>0<\/td> <td[^>]*>[1-4] s<\/td>.*?up to date/)
  expect(before).toMatch(/"Shard">1<\/th> <td[^>]*>0<\/td> <td[^>]*>6\d s<\/td>.*?behind/)
  await send(Array.from({ length: 30 }, (_, index) => ({ topic: orders, key: `key-${index}`, value: '{}' })))
  const lagsOf = (shown: string) =>
    [...shown.matchAll(/"Lag" class="number">(\d+)</g)].map(([, lag]) => Number(lag))
  await until(
    'the lag is 30 in total',
    async () => lagsOf(await page()).reduce((sum, lag) => sum + lag, 0) === 30,
  )
  expect(await takeSample(fixture.deps)).toMatchObject({ read: 0, lag: 30, deadLetters: 0 })
})

test('an open transaction is named with its producer and the command that ends it, and its records count as lag', async () => {
  const { orders } = names()
  const lags = async () =>
    [...(await page()).matchAll(/"Lag" class="number">(\d+)</g)].map(([, lag]) => Number(lag))
  const before = (await lags()).reduce((sum, lag) => sum + lag, 0)
  const transaction = await beginTransaction(fixture.deps.kafka)
  const hourAgo = String(Date.now() - 3_600_000)
  await transaction.send({
    topic: orders,
    messages: [{ key: 'k', value: '{}', partition: 0, timestamp: hourAgo }],
  })
  const shown = await page()
  await transaction.abort()
  expect(shown).toMatch(
    /Open transactions.*-0 stands at offset \d+: producer \d+ \(transactional.id [0-9a-f-]{36}\) holds a transaction open, and wrote last 36\d\d s ago/,
  )
  expect(shown).toContain(`abort --topic ${orders} --partition 0 --start-offset `)
  expect((await lags()).reduce((sum, lag) => sum + lag, 0)).toBeGreaterThan(before)
  await until('it has ended', async () => !(await page()).includes('Open transactions'))
})

test('dead letters are counted by reason, never shown with a value, and replayed once', async () => {
  expect(await page()).toContain('No dead letters are waiting.')
  await reject(5, 6, 7)
  await until('they are read', async () => (await page()).includes('3 records</strong> were rejected'))
  const shown = await page()
  expect(shown).toMatch(/schema<\/span> 3/)
  expect(shown).toContain('items: must be an array')
  expect(shown).not.toContain('items&quot;:null')
  expect(await takeSample(fixture.deps)).toMatchObject({ deadLetters: 3 })

  const id = `${names().orders}-0-6`
  const from = { from: '/operations' }
  const one = await visitor.post('/operations/replay', { id }, from)
  expect(one.headers.location).toBe('/operations?replayed=1')
  expect(await page()).not.toContain(`value="${id}"`)
  expect((await visitor.post('/operations/replay', { id }, from)).headers.location).toBe(
    '/operations?replayed=0',
  )
  const token = csrfOf(await page())
  const replayAll = () => visitor.postBare('/operations/replay', { _csrf: token, all: 'yes' })
  const both = await Promise.all([replayAll(), replayAll()])
  const outcomes = both.map(({ statusCode, headers }) => [statusCode, headers.location]).toSorted()
  expect(outcomes).toEqual([
    [303, '/operations?replayed=2'],
    [409, undefined],
  ])
  expect(await page()).toContain('No dead letters are waiting.')
  expect((await visitor.get('/audit')).body).toContain('Replayed dead letters')
})

test('a replay says how many dead letters could not be replayed', async () => {
  const sha256 = 'a'.repeat(64)
  const { deadLetters, orders } = names()
  const { key, headers } = deadLetterRecord(orders, {
    offset: 70,
    headers: { 'tally.value-bytes': '9000000', 'tally.value-sha256': sha256 },
  })
  await send([{ topic: deadLetters, key: String(key), value: null, headers }])
  const from = { from: '/operations' }
  await until('it is read', async () => (await page()).includes('1 record</strong> was rejected'))
  const location = '/operations?replayed=0&refused=1'
  expect((await visitor.post('/operations/replay', { all: 'yes' }, from)).headers.location).toBe(location)
  expect((await visitor.get(location)).body).toContain('1 dead letter cannot be replayed')
})

test('a replay of nothing, or of an invalid id, is refused', async () => {
  for (const fields of [{}, { id: 'not an id' }] as Record<string, string>[])
    expect((await visitor.post('/operations/replay', fields, { from: '/operations' })).statusCode).toBe(400)
})

test('the page shows a stalled partition with the command to run, and past commands', async () => {
  const { db } = fixture
  expect(await page()).not.toContain('Stalled partitions')
  const message = `${names().orders}-0 stands still: run \`tally offsets accept ${names().orders} 0\``
  await noteStall(db, { topic: names().orders, partition: 0 }, { state: 'gap', message })
  expect(await page()).toMatch(/Stalled partitions.*gap<\/span>.*tally offsets accept/)
  await clearStall(db, { topic: names().orders, partition: 0 })
  expect(await page()).not.toContain('Stalled partitions')
  const entry = {
    email: 'root',
    address: 'host',
    action: 'offsets-skipped',
    subject: 't 0',
    detail: '3 offsets',
  }
  await db
    .insertInto('audit_entries')
    .values({ organization_id: null, ...entry })
    .execute()
  expect(await page()).toMatch(/Skipped records.*3 offsets \(root, host\)/)
  expect((await visitor.get('/audit')).body).not.toContain('3 offsets')
})

test('the last rebuild and the versions are shown', async () => {
  expect(await page()).toContain('No rebuild has run.')
  const ended = { started_at: '2026-09-04T10:00:00Z', finished_at: '2026-09-04T10:00:42Z' }
  await fixture.db.insertInto('rebuilds').values(ended).execute()
  expect(await page()).toContain('in 42 s.')
  const running = { ...ended, finished_at: null }
  await fixture.db.insertInto('rebuilds').values(running).execute()
  const shown = await page()
  expect(shown).toContain('not finished')
  const entry = { organization_id: null, email: 'root', address: 'host', detail: 'from Kafka' }
  const note = (action: string) => ({ ...entry, action: `rebuild-${action}` })
  await fixture.db.insertInto('audit_entries').values(note('failed')).execute()
  expect(await page()).toContain('<strong>failed</strong>: the command has said why.')
  // Another one is refused while this one runs.
  for (const action of ['begun', 'failed'])
    await fixture.db.insertInto('audit_entries').values(note(action)).execute()
  expect(await page()).toContain('not finished')
  expect(shown).toMatch(/badge good">● Kafka 1 broker<.*● Postgres \d+.*● Redis \d+\./)
  expect(shown).toMatch(/Schema<\/dt><dd><code>\d{4}-/)
})

test('without Kafka the page lacks only the dead letters, and says so', async () => {
  const cut = await openFixture({ kafka: connectTo('127.0.0.1:1') })
  const { email } = await newOffice(cut, { isPlatform: true })
  const other = newVisitor(cut.app)
  await other.signIn(email)
  const { statusCode, body } = await other.get('/operations')
  const replay = await other.post('/operations/replay', { all: 'yes' }, { from: '/keys/new' })
  await cut.close()
  expect([statusCode, replay.statusCode]).toEqual([200, 503])
  expect(body).toContain('Not available right now')
  expect(body).toContain('Versions')
  expect(body).toContain('badge revoked">● Kafka does not answer<')
})

/** The area with Postgres behind a relay, and a visitor of the platform team who is not signed in. */
async function openBehindRelay() {
  const url = new URL(asRole(fixture.url, 'admin'))
  const relay = await openRelay({ host: url.hostname, port: Number(url.port) })
  url.port = String(relay.port)
  const db = openDatabase(url.href)
  const app = await buildAdmin({ ...fixture.deps, db })
  const close = async () => {
    await app.close()
    await db.destroy()
    await relay.close()
  }
  const signIn = async (isPlatform: boolean) => {
    const signedIn = newVisitor(app)
    await signedIn.signIn((await newOffice(fixture, { isPlatform })).email)
    return signedIn
  }
  return { app, relay, signIn, close }
}

test('while Postgres does not answer, the page goes on for the platform team, and stays closed to all others', async () => {
  const { app, relay, signIn, close } = await openBehindRelay()
  const [known, other] = [await signIn(true), await signIn(false)]
  await known.get('/operations')
  await other.get('/keys')
  const unread = await signIn(true)
  const signedOut = await Promise.all(
    ['/sign-out', '/account/sign-out-everywhere', '/account/password'].map(async path => {
      const visitor = await signIn(true)
      await visitor.get('/operations')
      const copy = newVisitor(app, undefined, { cookies: new Map(visitor.cookies) })
      const fields = { current: password, password: 'un altro gelato alla fragola' }
      await visitor.post(path, fields, { from: '/account' })
      return copy
    }),
  )
  await relay.cut()
  const { statusCode, body } = await known.get('/operations')
  const refused = [
    other,
    unread,
    ...signedOut,
    newVisitor(app, undefined, { cookies: new Map([['tally_session', 'x'.repeat(43)]]) }),
  ]
  const statuses = await Promise.all(refused.map(async who => (await who.get('/operations')).statusCode))
  const pages = ['/keys', '/audit', '/account', '/live']
  const others = await Promise.all(pages.map(async page => (await known.get(page)).statusCode))
  const runbook = await known.get('/operations/runbook')
  await relay.mend()
  const mended = await known.get('/operations')
  await close()
  expect(statusCode).toBe(200)
  expect(body).toContain('badge revoked">● Postgres does not answer<')
  expect(body).toContain('badge good">● Kafka 1 broker<')
  expect(body).toMatch(/"Shard">0<.*"Shard">1</s)
  expect(body).not.toContain('<form method="post" action="/operations/replay"')
  expect([statuses, others]).toEqual([
    [503, 503, 503, 503, 503, 503],
    [503, 503, 503, 503],
  ])
  expect([runbook.statusCode, runbook.body]).toEqual([
    200,
    expect.stringMatching(
      /<h1 id="runbook">Runbook.*href="#tallyshardstandsstill".*id="tallyshardstandsstill"/s,
    ),
  ])
  expect(mended.body).toContain('badge good">● Postgres')
})
