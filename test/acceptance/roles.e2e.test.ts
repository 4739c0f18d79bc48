import { tally as command, parsedLines } from '@tally/testkit/processes/command'
import { runTally } from '@tally/testkit/processes/process'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { asRole } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { expect, test } from 'vitest'

/** docs/install.md, Database roles. Every service of these tests has its role; here are the commands. */
const tally = useTally()
const sagra = newFestival()

const asAdmin = (...args: string[]) =>
  (args[0] === 'doctor' ? runTally : command)(args, {
    ...tally.settings,
    DATABASE_URL: asRole(tally.settings.DATABASE_URL as string, 'admin'),
  })

test('the role of the administration area is enough for keys, administrators, dead letters and lists', async () => {
  await tally.produce([sagra.order({ orderId: '' })])
  await tally.count([sagra.organization(), sagra.event(), sagra.order()])
  const of = ['--organization', sagra.organizationId]
  const keyOf = ['keys', 'create', ...of, '--name', 'till', '--scope', 'orders:read', '--json']
  const { stdout: made } = await asAdmin(...keyOf)
  const { token } = JSON.parse(made)
  const orders = await tally.get(`${sagra.path}/orders`, { token })
  expect(orders.status).toBe(200)
  // By itself: on a busy machine it would run out of time to connect while other commands start.
  expect((await asAdmin('doctor')).stdout).toMatch(/^ok +schema .*the rights of tally admin$/m)
  const done = await Promise.all([
    asAdmin('administrators', 'create', ...of, '--email', 'anna@example.org', '--link'),
    asAdmin('events', 'list'),
    asAdmin('offsets'),
    asAdmin('dead-letters', 'replay', '--all'),
  ])
  for (const { code, stderr } of done) expect({ code, stderr }).toMatchObject({ code: 0 })

  const refused = await Promise.all([asAdmin('rebuild'), asAdmin('events', 'remove', sagra.eventId, '--yes')])
  for (const { code, stderr } of refused) {
    expect(code).toBe(1)
    expect(stderr).toContain('permission denied')
  }
})

test.concurrent.each([
  ['query', 'projector', 'api_key_deletions, api_keys'],
  ['projector', 'query', 'counters'],
  ['admin', 'query', 'admin_sessions'],
] as const)('tally %s ends as the role of the %s, and names the tables', async (service, role, tables) => {
  const DATABASE_URL = asRole(tally.settings.DATABASE_URL as string, role)
  const { code, stderr } = await runTally([service], { ...tally.settings, DATABASE_URL })
  const last = parsedLines(stderr).at(-1)
  expect({ code, last }).toMatchObject({ code: 1, last: { level: 60, msg: expect.stringContaining(tables) } })
  expect(last?.msg).toContain(`this database role lacks rights that \`tally ${service}\` needs on `)
})

test('keys and order lists work while no projector has opened an epoch', async () => {
  await tally.projectors[0]?.end()
  await sql`update epochs set server = 'another'`.execute(tally.database.db)
  const query = await tally.startQuery()
  tally.queries.push(query)
  const token = await tally.key(sagra.organizationId)
  const { status } = await tally.get(`${sagra.path}/orders`, { token, query: 1 })
  expect(status).toBe(200)
  expect(await asAdmin('keys', 'list', '--organization', sagra.organizationId)).toMatchObject({ code: 0 })
})
