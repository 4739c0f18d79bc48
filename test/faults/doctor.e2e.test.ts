import { timeZoneDataVersion } from '@tally/contract'
import { describeTopics } from '@tally/kafka'
import { type Checked, examine } from '@tally/repair'
import { parsedLines } from '@tally/testkit/processes/command'
import { type Environment, runTally, startProcess } from '@tally/testkit/processes/process'
import { openRelay } from '@tally/testkit/servers/relay'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { hasWrongClocks, wrongClock } from '../chaos/system/clock.ts'
import type { Break } from './breaks/break.ts'
import { type Installation, startInstallation } from './breaks/installation.ts'
import { kafkaBreaks } from './breaks/kafka.ts'
import { postgresBreaks } from './breaks/postgres.ts'
import { clusterWith, redisBreaks } from './breaks/redis.ts'

/** docs/reference.md, Doctor: each break of a healthy installation fails its own line and no other. */
let installation: Installation
/** Topics of which `asOf` is recent. */
let usual: Environment
const steps: (() => unknown)[] = []
beforeAll(async () => {
  installation = await startInstallation()
  usual = (await installation.otherTopics()).settings
})
afterEach(async () => {
  for (const step of steps.splice(0).reverse()) await step()
})
afterAll(() => installation?.stop())

/** The lines that are neither ok nor skipped: their state, their name, and what `words` adds. */
const complaints = (lines: Checked[], words: (line: Checked) => string = () => ''): string[] =>
  lines.flatMap(line =>
    line.state === 'ok' || line.state === 'skip' ? [] : [`${line.state} ${line.check}${words(line)}`],
  )

/** Nothing that was said may hold a password of these settings. */
function expectNoSecret(said: string, settings: Environment): void {
  const passwords = Object.values(settings).flatMap(value => [...value.matchAll(/:([^:@/]+)@/g)])
  for (const secret of ['hidden', ...passwords.map(([, password = '']) => password)])
    expect(said).not.toContain(secret)
}

/** What the doctor says under these settings. */
async function doctor(settings: Environment): Promise<Checked[]> {
  const all = { ...usual, ...settings }
  await installation.keepRecent()
  const lines = await examine(all)
  expectNoSecret(JSON.stringify(lines), all)
  return lines
}

test('a healthy installation is ok in every line', async () => {
  const { tally } = installation
  await expect.poll(async () => complaints(await doctor(tally.settings))).toEqual([])
  const lines = await doctor({})
  expect(lines.map(({ state }) => state)).toEqual(Array.from({ length: 31 }, () => 'ok'))
  const rejected = expect.stringMatching(/retention\.bytes=4294967296; 0 kept, .*tally dead-letters list/)
  expect(lines).toContainEqual({ check: 'dead letters', state: 'ok', found: rejected })
  expect(lines).toContainEqual({ check: 'time zone data', state: 'ok', found: timeZoneDataVersion() })
})

const settingsBreaks: Break[] = [
  { line: 'fail settings', what: 'an invalid setting', make: () => ({ LOG_LEVEL: 'loud' }) },
  { line: 'fail settings', what: 'an invalid address', make: () => ({ REDIS_URL: 'mysql://u:hidden@h' }) },
  {
    line: 'fail settings',
    what: 'a file of authorities that is missing',
    says: /NODE_EXTRA_CA_CERTS is "\/not\/there"/,
    make: () => ({ NODE_EXTRA_CA_CERTS: '/not/there' }),
  },
  { line: 'fail settings', what: 'half of the credentials', make: () => ({ KAFKA_SASL_PASSWORD: 'hidden' }) },
]

test.each([...settingsBreaks, ...kafkaBreaks, ...postgresBreaks, ...redisBreaks])(
  '$line: $what',
  async ({ line, says = /./, make }) => {
    const settings = await make(installation, step => void steps.push(step))
    let lines: Checked[] = []
    // On a busy machine a check may not be done in time at first, nor find out why.
    await expect
      .poll(async () => {
        lines = await doctor(settings)
        return complaints(lines, ({ found, mend }) => `: ${found}: ${mend}`)
      })
      .toEqual([expect.stringMatching(new RegExp(`^${line}: .*(?:${says.source})`, 's'))])
    for (const { state, mend } of lines) expect(mend !== undefined).toBe(state === 'fail' || state === 'warn')
  },
)

test('a standby whose state the role may not see is not taken for one that is missing', async () => {
  const { db, pair, tally } = installation
  await sql`create role unprivileged login password 'hidden'`.execute(db)
  steps.push(() => sql`drop role unprivileged`.execute(db))
  steps.push(() => pair.setSynchronous(false))
  await pair.setSynchronous(true)
  const login = { username: 'unprivileged', password: 'hidden' }
  const lines = await doctor({
    DATABASE_URL: Object.assign(new URL(tally.settings.DATABASE_URL ?? ''), login).href,
  })
  expect(lines.find(({ check }) => check === 'replication')).toMatchObject({
    state: 'ok',
    found: expect.stringContaining('only a member of pg_monitor sees its lag'),
  })
})

test('a Redis Cluster is named by the address of one node', async () => {
  const REDIS_URL = await clusterWith(installation, step => void steps.push(step))
  const lines = await doctor({ REDIS_URL })
  expect(complaints(lines)).toEqual([])
  const { host } = new URL(REDIS_URL)
  expect(lines).toContainEqual({ check: 'redis', state: 'ok', found: `${host}, a Redis Cluster of 1 master` })
})

test('fail redis role: a replica, and no other part takes its time', async () => {
  const port = await installation.redises.start(['replicaof 127.0.0.1 1'])
  steps.push(() => installation.redises.kill(port))
  const settings = { KAFKA_BROKERS: 'none', DATABASE_URL: 'none', REDIS_URL: `redis://127.0.0.1:${port}` }
  // On a busy machine Redis may not answer in time at first.
  await expect
    .poll(async () => complaints(await examine(settings)))
    .toEqual(['fail settings', 'fail redis role'])
})

/** Runs the command itself, which reads certificate authorities and the clock when it starts. */
async function run(settings: Environment, ...options: string[]) {
  const all = { ...usual, ...settings }
  await installation.keepRecent()
  // On a busy machine the command takes longer to start than a watermark stays recent.
  const renewing = setInterval(() => void installation.keepRecent().catch(() => undefined), 1_000)
  const ran = await runTally(['doctor', ...options], all).finally(() => clearInterval(renewing))
  expectNoSecret(ran.stdout + ran.stderr, all)
  return { ...ran, lines: ran.stdout.trimEnd().split('\n') }
}

test('the command prints aligned lines and is done', async () => {
  const { code, stderr, lines } = await run({})
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'doctor: 31 checks: 31 ok, 0 warn, 0 fail, 0 skipped\n',
  })
  for (const line of lines) expect(line).toMatch(/^ok {4}[a-zO ]{20} {2}\S/)
})

test('topics that refuse large records are named with the command that changes each of them', async () => {
  const { names, settings } = await installation.otherTopics()
  const before = [names.events, names.orders]
  await installation.admin(client => client.deleteTopics({ topics: before }))
  const topics = before.map(topic => ({ topic, numPartitions: 2 }))
  // An attempt that fails may have created them already (the wait for their leaders failed): ask Kafka.
  await until('the topics are created as Kafka does by itself', async () => {
    await installation.admin(client => client.createTopics({ topics })).catch(() => undefined)
    return (await describeTopics(installation.tally.kafka, before)).size === 2
  })
  const line = (await doctor(settings)).find(({ check }) => check === 'record size')
  const command = (topic: string) =>
    `kafka-configs.sh --bootstrap-server ${settings.KAFKA_BROKERS} --alter --entity-type topics ` +
    `--entity-name ${topic} --add-config max.message.bytes=8388608`
  expect(line).toEqual({
    check: 'record size',
    state: 'warn',
    found: `large records are refused: ${before.map(topic => `${topic} takes 1048588 bytes`).join(', ')}`,
    mend: `run ${before.map(command).join(' && ')}`,
  })
})

test('with all parts down, one of which hangs, each fails its own line, and the others say why they are skipped', async () => {
  const hanging = await openRelay(`kafka://${installation.kafka.brokers}`)
  steps.push(hanging.close)
  hanging.stall()
  const DATABASE_URL = 'postgres://u:hidden@127.0.0.1:1/tally'
  const REDIS_URL = 'redis://:hidden@127.0.0.1:1'
  const down = await run({ KAFKA_BROKERS: `127.0.0.1:${hanging.port}`, DATABASE_URL, REDIS_URL }, '--json')
  const lines = down.lines.map(line => JSON.parse(line) as Checked)
  expect(complaints(lines)).toEqual(['fail kafka', 'fail postgres', 'fail redis'])
  expect(lines.filter(({ state }) => state === 'skip').map(({ found }) => found.slice(0, 12))).toEqual(
    Array.from({ length: 23 }, () => 'not checked:'),
  )
  expect(down.code).toBe(1)
})

const services = ['projector', 'query', 'admin']

test('whatever libraries and Node print, each line of a service is JSON', async () => {
  const { tally, redises } = installation
  // ioredis prints a text if the user may not read INFO, pg if sslmode is `require`, and Node if it checks nothing.
  const port = await redises.start(['user tally on >hidden ~* &* +@all -info'])
  steps.push(() => redises.kill(port))
  const settings = {
    ...tally.settings,
    DATABASE_URL: `${tally.settings.DATABASE_URL}?sslmode=require`,
    REDIS_URL: `redis://tally:hidden@127.0.0.1:${port}`,
  }
  const check = async (service: string, own: Environment, reasons: RegExp[]) => {
    const process = startProcess([service], { ...settings, ...own })
    steps.push(() => process.end())
    for (const reason of reasons) await process.line(({ msg }) => reason.test(String(msg)))
    await process.end()
    expectNoSecret(process.log(), settings)
    expect(parsedLines(process.log()).map(({ msg }) => msg)).not.toContain('')
  }
  const blind = /Skipping the ready check because INFO command fails/
  const careless = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  await Promise.all([
    check('projector', {}, [/^Postgres does not answer \(self-signed certificate/]),
    check('admin', {}, [/^Postgres does not answer \(self-signed certificate/, blind]),
    check('query', careless, [/^Setting the NODE_TLS_REJECT_UNAUTHORIZED environment variable/, blind]),
  ])
})

test.each([
  ['an invalid setting', { KAFKA_SSL: 'maybe' }, 2, /^KAFKA_SSL is "maybe"; it takes true or false$/],
  ['an invalid level', { LOG_LEVEL: 'loud' }, 2, /^LOG_LEVEL is "loud"; it takes/],
  [
    'a missing file',
    { NODE_EXTRA_CA_CERTS: '/not/there', LOG_LEVEL: 'silent' },
    2,
    /^NODE_EXTRA_CA_CERTS is/,
  ],
  ['a port in use', { OPS_PORT: 'taken' }, 1, /OPS_PORT/],
])('the last line of a service that ends because of %s says so, as JSON', async (_, own, code, sentence) => {
  const { port } = new URL(installation.pair.primary.url)
  const taken = Object.fromEntries(
    Object.entries(own).map(([name, value]) => [name, value === 'taken' ? port : String(value)]),
  )
  for (const service of services) {
    const ran = await runTally([service], { ...installation.tally.settings, ...taken })
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' })
    expect(parsedLines(ran.stderr).at(-1)).toMatchObject({
      level: 60,
      service,
      msg: expect.stringMatching(sentence),
    })
  }
})

/** The lines that are not ok. */
const wrong = (lines: string[]): string[] => lines.filter(line => !line.startsWith('ok '))

test('fail clocks: this host has a wrong clock', async () => {
  expect(await hasWrongClocks(console.error)).toBe(true)
  const { code, lines } = await run(wrongClock(installation.redises.folder, -3_600).env)
  expect(wrong(lines)).toEqual([expect.stringMatching(/^fail {2}clocks .*Postgres \+3[56]\d\d\.\d s/)])
  expect(code).toBe(1)
})

test.each(['kafka', 'postgres', 'redis'])('fail %s certificate: it expires in two days', async part => {
  const { tally, kafka, certificate, key, redises } = installation
  const tls = async (): Promise<Environment> => {
    if (part === 'kafka') return { KAFKA_BROKERS: kafka.tls, KAFKA_SSL: 'true' }
    if (part === 'postgres') return { DATABASE_URL: `${tally.settings.DATABASE_URL}?sslmode=verify-full` }
    return { REDIS_URL: `rediss://127.0.0.1:${await redises.start([], { tls: { certificate, key } })}` }
  }
  const { code, lines } = await run({ ...(await tls()), NODE_EXTRA_CA_CERTS: certificate })
  expect(wrong(lines)).toEqual([
    expect.stringMatching(new RegExp(`^fail {2}${part} certificate .*: expires \\d{4}-`)),
  ])
  expect(code).toBe(1)
})
