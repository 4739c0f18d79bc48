import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { parseToken } from '@tally/access'
import { parsedLines, tally } from '@tally/testkit/processes/command'
import { program } from '@tally/testkit/processes/program'
import { addEvent, addOrganization } from '@tally/testkit/records/rows'
import { databaseOfFile, freshDatabase } from '@tally/testkit/servers/database'
import { redisOfFile } from '@tally/testkit/servers/redis'
import { expect, inject, test } from 'vitest'

const database = await databaseOfFile()
const { redis, keys, prefix } = await redisOfFile()
const organizationId = await addOrganization(database.db)
const settings = { DATABASE_URL: database.url, REDIS_URL: inject('servers').redisUrl, REDIS_PREFIX: prefix }

const create = (...more: string[]) =>
  tally(['keys', 'create', ...ofDefault(more), '--name', 'till', '--scope', 'events:read', ...more], settings)
const ofDefault = (more: string[]) =>
  more.includes('--organization') ? [] : ['--organization', organizationId]

async function created(...more: string[]) {
  const { code, stdout, stderr } = await create('--json', ...more)
  expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({ code: 0, stderr: '', lines: 2 })
  return JSON.parse(stdout)
}

const copyOf = async (keyId: string) => JSON.parse((await redis.get(keys.apiKey(keyId))) ?? 'null')

test('a new key is printed with every field and its token, ids in lower case, scopes once', async () => {
  const event = await addEvent(database.db, organizationId)
  const printed = await created(
    ...['--scope', 'orders:read', '--scope', 'events:read', '--organization', organizationId.toUpperCase()],
    ...['--event', event.toUpperCase(), '--expires-at', '2100-01-01T01:00:00+01:00'],
  )
  expect(printed).toEqual({
    keyId: expect.stringMatching(/^[0-9A-Za-z]{12}$/),
    organizationId,
    name: 'till',
    scopes: ['events:read', 'orders:read'],
    eventId: event,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/),
    expiresAt: '2100-01-01T00:00:00Z',
    revokedAt: null,
    lastUsedAt: null,
    token: expect.any(String),
  })
  expect(parseToken(printed.token)?.keyId).toBe(printed.keyId)
  expect(await copyOf(printed.keyId)).toMatchObject({ keyId: printed.keyId, revokedAt: null })
})

test('without --json the token is printed for people, only once', async () => {
  const { code, stdout } = await create()
  expect(code).toBe(0)
  expect(stdout).toMatch(/^token +tally_\w+ +\(shown only once: store it now\)$/m)
})

test('a key whose token cannot be written is not created', async () => {
  const organization = ['--organization', await addOrganization(database.db)]
  const args = ['keys', 'create', ...organization, '--name', 'till', '--scope', 'events:read']
  const options = { env: { ...process.env, ...settings }, encoding: 'utf8' } as const
  const ran = spawnSync('sh', ['-c', '"$0" "$@" > /dev/full', program, ...args], options)
  expect(ran).toMatchObject({ status: 1, stderr: expect.stringContaining('cannot be written: ENOSPC') })
  expect(await tally(['keys', 'list', ...organization, '--json'], settings)).toMatchObject({ stdout: '' })
})

test("an unknown organization, and an event that is not the organization's own, are failures", async () => {
  const unknown = randomUUID()
  expect(await create('--organization', unknown)).toEqual({
    code: 1,
    stdout: '',
    stderr: `tally: organization ${unknown} is not known yet: its record must arrive from Kafka first\n`,
  })
  expect(await create('--event', unknown)).toEqual({
    code: 1,
    stdout: '',
    stderr: `tally: event ${unknown} is not known as one of organization ${organizationId}\n`,
  })
})

test('keys are listed as one JSON object per line, never with a token', async () => {
  const organizationId = await addOrganization(database.db)
  const { token, ...first } = await created('--organization', organizationId)
  const { token: _, ...second } = await created('--organization', organizationId)
  const { code, stdout } = await tally(['keys', 'list', '--organization', organizationId, '--json'], settings)
  expect(code).toBe(0)
  expect(parsedLines(stdout)).toEqual([first, second])
  expect(stdout).not.toContain(token.slice(19))
})

test('a stored name cannot move the cursor of the terminal that lists or revokes its key', async () => {
  const organizationId = await addOrganization(database.db)
  const { keyId } = await created('--organization', organizationId)
  const name = '\x1b[2J\x9b31m\u202e\r\n'
  await database.db.updateTable('api_keys').set({ name }).where('key_id', '=', keyId).execute()
  const list = ['keys', 'list', '--organization', organizationId]
  const { stdout } = await tally(list, settings)
  expect(stdout.endsWith('  \\u001b[2J\\u009b31m\\u202e\\u000d\\u000a\n')).toBe(true)
  expect(stdout.trimEnd()).not.toMatch(/\p{C}/u)
  for (const args of [
    [...list, '--json'],
    ['keys', 'revoke', keyId],
  ]) {
    const { stdout } = await tally(args, settings)
    expect(JSON.parse(stdout).name).toBe(name)
    expect(stdout.trimEnd()).not.toMatch(/\p{C}/u)
  }
})

test('a key is revoked in Postgres and in its copy; a second time changes nothing; an unknown key is a failure', async () => {
  const { token: _, ...key } = await created()
  const first = await tally(['keys', 'revoke', key.keyId], settings)
  expect(first).toMatchObject({ code: 0, stderr: '' })
  const { revokedAt, ...rest } = JSON.parse(first.stdout)
  expect(rest).toEqual({ ...key, revokedAt: undefined })
  expect(Date.parse(revokedAt)).toBeGreaterThanOrEqual(Date.parse(key.createdAt))
  expect(await copyOf(key.keyId)).toMatchObject({ revokedAt: Date.parse(revokedAt) })
  expect(await tally(['keys', 'revoke', key.keyId], settings)).toEqual(first)
  expect(await tally(['keys', 'revoke', 'zzzzzzzzzzzz'], settings)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'tally: key zzzzzzzzzzzz is not known\n',
  })
})

test('creating and revoking a key leaves audit entries of its organization', async () => {
  const organizationId = await addOrganization(database.db)
  const { keyId } = await created('--organization', organizationId)
  await tally(['keys', 'revoke', keyId], settings)
  const entries = database.db
    .selectFrom('audit_entries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('audit_id')
  const by = { subject: keyId, detail: 'till', email: userInfo().username, address: hostname() }
  expect(await entries.execute()).toMatchObject([
    { action: 'key-created', ...by },
    { action: 'key-revoked', ...by },
  ])
})

test('with Redis down a key is created nevertheless, with a warning', async () => {
  const args = [
    'keys',
    'create',
    '--organization',
    organizationId,
    ...['--name', 'till', '--scope', 'events:read', '--json'],
  ]
  const down = { ...settings, REDIS_URL: 'redis://:hidden@127.0.0.1:1' }
  const ran = await tally(args, down)
  expect((await tally(['verify'], down)).stderr).toContain('127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1): ')
  expect(ran).toMatchObject({
    code: 0,
    stderr: 'tally: Redis does not answer at 127.0.0.1:1; the key is in Postgres and will be copied later\n',
  })
  expect(JSON.parse(ran.stdout).token).toMatch(/^tally_/)
})

test('without the schema, the error names the command to run', async () => {
  const empty = await freshDatabase({ migrated: false })
  const list = ['keys', 'list', '--organization', organizationId]
  const ran = await tally(list, { ...settings, DATABASE_URL: empty.url }).finally(() => empty.drop())
  expect(ran).toMatchObject({
    code: 1,
    stderr: 'tally: the Postgres schema is missing or old: run `tally migrate` first\n',
  })
})
