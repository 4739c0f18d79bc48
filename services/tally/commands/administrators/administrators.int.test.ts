import { hash, randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { isPassword } from '@tally/access'
import { parsedLines, tally } from '@tally/testkit/processes/command'
import { addOrganization } from '@tally/testkit/records/rows'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { expect, test } from 'vitest'

const database = await databaseOfFile()
const organizationId = await addOrganization(database.db)

const password = 'a long enough password'
const create = (more: string[], input = `${password}\n`) =>
  tally(['administrators', 'create', ...more], { DATABASE_URL: database.url }, input)
const whose = (email: string) => ['--organization', organizationId.toUpperCase(), '--email', email]
const rowOf = (email: string) =>
  database.db.selectFrom('administrators').selectAll().where('email', '=', email).executeTakeFirst()

test('an administrator is created with the password on stdin, which is stored only as a hash', async () => {
  const { code, stdout, stderr } = await create([...whose('Anna@Example.ORG'), '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({
    administratorId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    organizationId,
    email: 'anna@example.org',
    isPlatform: false,
    hasSecondFactor: false,
    createdAt: expect.stringMatching(/Z$/),
  })
  const row = await rowOf('anna@example.org')
  expect(JSON.stringify(row)).not.toContain(password)
  expect(await isPassword(password, row?.password_hash ?? '')).toBe(true)
})

test('the password is the first line with any line end; --platform opens the operations page', async () => {
  expect((await create([...whose('berta@example.org'), '--platform'], `${password}\r\nmore\n`)).code).toBe(0)
  const row = await rowOf('berta@example.org')
  expect(row?.is_platform).toBe(true)
  expect(await isPassword(password, row?.password_hash ?? '')).toBe(true)
})

test('an e-mail that is taken, in any case, and an unknown organization are failures', async () => {
  await create(whose('carla@example.org'))
  expect(await create(whose('CARLA@example.org'))).toEqual({
    code: 1,
    stdout: '',
    stderr: 'tally: carla@example.org is already an administrator\n',
  })
  const unknown = randomUUID()
  expect(await create(['--organization', unknown, '--email', 'dora@example.org'])).toEqual({
    code: 1,
    stdout: '',
    stderr: `tally: organization ${unknown} is not known yet: its record must arrive from Kafka first\n`,
  })
})

test.for([
  {
    why: 'no UUID',
    more: ['--organization', 'x', '--email', 'e@example.org'],
    says: '--organization takes a UUID',
  },
  {
    why: 'no e-mail',
    more: ['--organization', randomUUID(), '--email', 'x'],
    says: '--email takes an e-mail address',
  },
  {
    why: 'no organization',
    more: ['--email', 'e@example.org'],
    says: "required option '--organization <UUID>'",
  },
])('$why is wrong usage', async ({ more, says }) => {
  const { code, stdout, stderr } = await create(more)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(says)
})

test.for(['', 'short', 'x'.repeat(129)])(
  'a password of another length is refused and never said: %s',
  async given => {
    const { code, stderr } = await create(whose('f@example.org'), `${given}\n`)
    expect(code).toBe(2)
    expect(stderr).toBe(`tally: the password must have 12 to 128 characters, but has ${given.length}\n`)
    expect(await rowOf('f@example.org')).toBeUndefined()
  },
)

test('a common password is refused and never said', async () => {
  const { code, stderr } = await create(whose('g@example.org'), 'password1234\n')
  expect(code).toBe(2)
  expect(stderr).toBe(
    'tally: the password is too easy to guess: use several words that do not belong together\n',
  )
  expect(await rowOf('g@example.org')).toBeUndefined()
})

test('reset prints a link of the area, which is stored only as a hash', async () => {
  await create(whose('hanna@example.org'))
  const settings = { DATABASE_URL: database.url, ADMIN_URL: 'https://admin.example.org' }
  const reset = (...more: string[]) => tally(['administrators', 'reset', ...more], settings)
  const { code, stdout, stderr } = await reset('--email', 'Hanna@Example.ORG')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^https:\/\/admin\.example\.org\/reset\/[\w-]{43}\n$/)
  const stored = await database.db.selectFrom('one_time_tokens').selectAll().execute()
  expect(stored).toHaveLength(1)
  const token = stdout.trim().slice(-43)
  expect(stored[0]?.token_sha256.toString('hex')).toBe(hash('sha256', token))
  expect(await reset('--email', 'nobody@example.org')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'tally: nobody@example.org is not an administrator\n',
  })
})

test('a reset link removes the second factor only if asked to; the list shows who has one', async () => {
  const email = 'jana@example.org'
  const own = await addOrganization(database.db)
  const settings = { DATABASE_URL: database.url }
  const { stderr } = await tally(['administrators', 'list', '--organization', own], settings)
  expect(stderr).toBe('there are no administrators of this organization\n')
  await create(['--organization', own, '--email', email])
  const list = async () => (await tally(['administrators', 'list', '--organization', own], settings)).stdout
  expect(await list()).toBe(`${own}  ${email}\n`)
  await database.db
    .updateTable('administrators')
    .set({ totp_secret: 'X' })
    .where('email', '=', email)
    .execute()
  expect(await list()).toBe(`${own}  ${email}  second factor\n`)
  const reset = (...more: string[]) => tally(['administrators', 'reset', '--email', email, ...more], settings)
  const link = () =>
    database.db
      .selectFrom('one_time_tokens')
      .innerJoin('administrators', 'administrators.administrator_id', 'one_time_tokens.administrator_id')
      .select(['removes_second_factor', 'totp_secret'])
      .where('email', '=', email)
      .execute()
  expect((await reset()).code).toBe(0)
  expect(await link()).toEqual([{ removes_second_factor: false, totp_secret: 'X' }])
  expect((await reset('--second-factor')).code).toBe(0)
  expect(await link()).toEqual([{ removes_second_factor: true, totp_secret: 'X' }])
})

test('create --link asks for no password and prints the link that sets it', async () => {
  const email = 'lara@example.org'
  const { code, stdout, stderr } = await create([...whose(email), '--link'], '')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { ownerOfToken } = await import('@tally/access')
  expect(await ownerOfToken(database.db, 'reset', stdout.trim().slice(-43))).toMatchObject({ email })
})

test('create, reset and remove leave audit entries with the account and the host', async () => {
  const own = await addOrganization(database.db)
  const settings = { DATABASE_URL: database.url }
  const email = 'iris@example.org'
  await create(['--organization', own, '--email', email])
  for (const command of ['reset', 'remove'])
    await tally(['administrators', command, '--email', email], settings)
  const entries = database.db.selectFrom('audit_entries').selectAll().where('organization_id', '=', own)
  const by = { subject: email, email: userInfo().username, address: hostname() }
  expect(await entries.orderBy('audit_id').execute()).toMatchObject([
    { action: 'administrator-created', ...by },
    { action: 'reset-link-made', ...by },
    { action: 'administrator-removed', ...by },
  ])
  await create(['--organization', own, '--email', email, '--link'], '')
  expect((await entries.orderBy('audit_id').execute()).slice(3)).toMatchObject([
    { action: 'administrator-created', ...by },
    { action: 'reset-link-made', ...by },
  ])
})

test('administrators are listed by organization, and a removed one is signed out everywhere', async () => {
  const settings = { DATABASE_URL: database.url }
  const own = await addOrganization(database.db)
  for (const name of ['zora', 'yann'])
    await create(['--organization', own, '--email', `${name}@example.org`, '--json'])
  const list = async () =>
    parsedLines((await tally(['administrators', 'list', '--organization', own, '--json'], settings)).stdout)
  const [yann, zora] = await list()
  expect([yann.email, zora.email]).toEqual(['yann@example.org', 'zora@example.org'])
  const { beginSession, findSession } = await import('@tally/admin')
  const token = await beginSession(database.db, yann.administratorId)
  expect(await findSession(database.db, token)).toMatchObject({
    email: 'yann@example.org',
    organizationId: own,
  })
  const remove = () => tally(['administrators', 'remove', '--email', 'Yann@example.org'], settings)
  expect((await remove()).code).toBe(0)
  expect(await findSession(database.db, token)).toBeUndefined()
  expect((await list()).map(({ email }: { email: string }) => email)).toEqual(['zora@example.org'])
  expect(await remove()).toEqual({
    code: 1,
    stdout: '',
    stderr: 'tally: yann@example.org is not an administrator\n',
  })
})
