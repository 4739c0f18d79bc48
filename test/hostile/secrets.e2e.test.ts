import { randomBytes } from 'node:crypto'
import { parseToken } from '@tally/access'
import { ask } from '@tally/testkit/processes/http'
import { type Environment, runTally, startProcess } from '@tally/testkit/processes/process'
import { startTally, type Tally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useAdministration } from './administration.ts'
import {
  argumentsOfProcesses,
  everythingInPostgres,
  everythingInRedis,
  nodesOf,
  statementsInPostgres,
} from './everywhere.ts'

const suffix = randomBytes(6).toString('hex')
const password = (of: string) => `pass-${of}-${suffix}`
const role = `hostile_${suffix}`
const wrongs = { token: `tally_${'W'.repeat(12)}_${`${suffix}0`.repeat(4).slice(0, 49)}` }
const festival = newFestival()

let tally: Tally
let token: string
let area: { session: string; token: string }
let withPasswords: Environment
/** All output and stored data, by place. */
const outputs: Record<string, string> = {}

beforeAll(async () => {
  tally = await startTally({ projectors: 0, queries: 0, settings: { LOG_LEVEL: 'trace' } })
  const { db } = tally.database
  await sql.raw(`create role ${role} superuser login password '${password('postgres')}'`).execute(db)
  for (const node of nodesOf(tally.redis))
    await node.call('ACL', 'SETUSER', role, 'on', `>${password('redis')}`, '~*', '&*', '+@all')
  withPasswords = {
    ...tally.settings,
    DATABASE_URL: withCredentials(tally.settings.DATABASE_URL, role, password('postgres')),
    REDIS_URL: withCredentials(tally.settings.REDIS_URL, role, password('redis')),
  }
})

afterAll(async () => {
  for (const node of nodesOf(tally.redis)) await node.call('ACL', 'DELUSER', role)
  await sql.raw(`drop role ${role}`).execute(tally.database.db)
  await tally.stop()
})

/** The URL with a user and password; of several nodes, each. */
const withCredentials = (urls: string | undefined, user: string, secret: string): string =>
  (urls ?? '')
    .split(',')
    .map(url => Object.assign(new URL(url), { username: user, password: secret }).href)
    .join(',')

test('a token or password appears only at its owner', { timeout: 600_000 }, async () => {
  await runEverything()
  await failEverything()
  outputs.postgres = await everythingInPostgres(tally.database.db)
  outputs.redis = await everythingInRedis(tally.redis, tally.settings.REDIS_PREFIX as string)
  outputs.deadLetters = JSON.stringify(
    await readDeadLetters(tally).then(deadLetters => deadLetters.map(({ headers }) => headers)),
  )

  expect([area.token.length, area.session.length]).toEqual([68, 43])
  expect(outputs.redis).toContain(parseToken(token)?.keyId)
  expect(outputs.postgres).toContain(parseToken(token)?.keyId)
  expect(outputs.processes).toContain('query')
  expect(outputs.statements).toContain('select')
  const secrets = {
    'the token': token,
    'its secret': parseToken(token)?.secret as string,
    'a wrong token': wrongs.token,
    'a token made in the administration area': area.token,
    'its own secret': area.token.slice(-49),
    'the token of a session': area.session,
    'a wrong secret': wrongs.token.slice(-49),
    ...Object.fromEntries(
      ['postgres', 'redis', 'kafka', 'wrong', 'anna', 'not-anna'].map(of => [
        `the password of ${of}`,
        password(of),
      ]),
    ),
  }
  const found = Object.entries(secrets).flatMap(([name, secret]) =>
    Object.entries(outputs).flatMap(([place, text]) =>
      text.includes(secret) ? [`${name} in ${place}`] : [],
    ),
  )
  expect(found).toEqual([])
})

/** A system whose settings hold passwords, from the making of a key to its use in all right and wrong ways. */
async function runEverything(): Promise<void> {
  const projector = startProcess(['projector'], withPasswords)
  const query = startProcess(['query'], withPasswords)
  const { ops: projectorOps } = await projector.started()
  const { address, ops } = await query.started()
  await tally.count([
    festival.organization(),
    festival.event(),
    festival.order(),
    festival.order({ version: 0 }),
  ])

  const made = await runTally(
    [
      'keys',
      'create',
      '--organization',
      festival.organizationId,
      '--name',
      'till',
      '--scope',
      'events:read',
      '--json',
    ],
    withPasswords,
  )
  token = JSON.parse(made.stdout).token
  await useArea()
  outputs.keysCreate = made.stderr
  outputs.keysList = JSON.stringify(
    await runTally(['keys', 'list', '--organization', festival.organizationId], withPasswords),
  )
  outputs.answers = JSON.stringify(await Promise.all(asked(address)))
  outputs.statements = await statementsInPostgres(tally.database.db)
  outputs.processes = argumentsOfProcesses()
  outputs.metrics = (await Promise.all([ops, projectorOps].map(of => ask(of, '/metrics'))))
    .map(({ text }) => text)
    .join()
  outputs.readiness = JSON.stringify(await Promise.all([ops, projectorOps].map(of => ask(of, '/readyz'))))
  await Promise.all([projector.end(), query.end()])
  outputs.projectorLog = projector.log()
  outputs.queryLog = query.log()
}

/** The administration area, from the making of an administrator to a key that is made there. */
async function useArea(): Promise<void> {
  const whose = ['--organization', festival.organizationId, '--email', 'anna@example.org', '--platform']
  const created = await runTally(
    ['administrators', 'create', ...whose, '--json'],
    withPasswords,
    `${password('anna')}\n`,
  )
  outputs.administratorsCreate = JSON.stringify(created)
  const admin = startProcess(['admin'], { ...withPasswords, LOG_LEVEL: 'trace' })
  const { address, ops } = await admin.started()
  const who = { email: 'anna@example.org', password: password('anna'), wrong: password('not-anna') }
  const { pages, ...secrets } = await useAdministration(address, who)
  area = secrets
  outputs.pages = pages
  outputs.adminMetrics = (await ask(ops, '/metrics')).text
  outputs.adminProcesses = argumentsOfProcesses()
  await admin.end()
  outputs.adminLog = admin.log()
}

const asked = (address: string) => {
  const to = (headers: Record<string, string>, path = festival.path) => ask(address, path, { headers })
  return [
    to({ 'X-Api-Key': token }),
    to({ Authorization: `Bearer ${token}` }),
    to({ 'X-Api-Key': wrongs.token, Authorization: `Bearer ${token}` }),
    to({ Authorization: `Basic ${token}` }),
    to({ 'X-Api-Key': `${token}x`, Cookie: token, Referer: token, Origin: token }),
    to({ 'If-None-Match': token, 'X-Request-Id': token, 'X-Api-Key': token }),
    to({}, `${festival.path}?token=${token}&api_key=${wrongs.token}`),
    to({ 'X-Api-Key': token }, `${festival.path}/orders?token=${token}&status=${token}&dayId=${token}`),
    to({ 'X-Api-Key': token }, `/api/v1/events/nothing?token=${token}%ff`),
    ask(address, festival.path, { method: 'POST', headers: { 'X-Api-Key': token } }),
    ask(address, `${festival.path}?${token}`, { method: 'PURGE', headers: { 'X-Api-Key': token } }),
  ]
}

/** Settings that are wrong, passwords that are not taken, parts that are not there. */
async function failEverything(): Promise<void> {
  const kafka = { KAFKA_SASL_USERNAME: 'tally', KAFKA_SASL_PASSWORD: password('kafka') }
  const plain = { ...kafka, KAFKA_SASL_MECHANISM: 'plain' }
  const database = withPasswords.DATABASE_URL as string
  const redis = withPasswords.REDIS_URL as string
  const unknownRole = { DATABASE_URL: withCredentials(database, 'nobody', password('wrong')) }
  const ended: [string, Environment][] = [
    ['half of SASL', kafka],
    ['a wrong mechanism', { ...kafka, KAFKA_SASL_MECHANISM: password('kafka').slice(0, 4) }],
    [
      'no such scheme',
      {
        DATABASE_URL: database.replace('postgres:', 'postgrez:'),
        REDIS_URL: redis.replaceAll('redis:', 'rediz:'),
      },
    ],
    [
      'a broken port',
      { DATABASE_URL: database.replace(/:\d+\//, ':x/'), REDIS_URL: redis.replace(/:\d+$/, ':x') },
    ],
  ]
  // Processes wait for a part that can come back.
  const waited: [string, Environment][] = [
    ['no such database', { DATABASE_URL: `${database}x` }],
    ['an unknown role', unknownRole],
    ['a port that nothing listens on', { DATABASE_URL: database.replace(/:\d+\//, ':1/') }],
  ]
  for (const [what, settings] of waited)
    outputs[`query with ${what}`] = await logOf(['query'], settings, /Postgres does not answer \(/)
  for (const [what, settings] of ended) {
    const { code, ...output } = await runTally(['query'], { ...withPasswords, ...settings })
    expect({ what, failed: code !== 0 }).toEqual({ what, failed: true })
    outputs[`query with ${what}`] = JSON.stringify(output)
  }
  const wrongRedis = { REDIS_URL: redis.replaceAll(password('redis'), password('wrong')) }
  const noRedis = { REDIS_URL: redis.replace(/:\d+(?=,|$)/g, ':1') }
  const create = [
    'keys',
    'create',
    '--organization',
    festival.organizationId,
    '--name',
    'x',
    '--scope',
    'events:read',
  ]
  const copied = await runTally(create, { ...withPasswords, ...wrongRedis })
  outputs['keys create without Redis'] = copied.stderr
  outputs['query with a wrong password of Redis'] = await logOf(
    ['query'],
    wrongRedis,
    /WRONGPASS|query started/,
  )
  outputs['query without Redis'] = await logOf(['query'], noRedis, /query started/)
  outputs['projector with a wrong password of Redis'] = await logOf(['projector'], wrongRedis, /WRONGPASS/)
  outputs['projector with SASL against a broker without'] = await logOf(['projector'], plain, /SASL/)
}

/** The whole log of a process, which is ended once it has written something, if it does not end before. */
async function logOf(command: string[], settings: Environment, wanted: RegExp): Promise<string> {
  const process = startProcess(command, { ...withPasswords, ...settings })
  let isOver = false
  process
    .line(() => false)
    .catch(() => {
      isOver = true
    })
  await until(`${command} writes ${wanted}`, () => isOver || wanted.test(process.log())).finally(() =>
    process.end(),
  )
  return process.log()
}
