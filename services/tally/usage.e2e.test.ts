import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { tally } from '@tally/testkit/processes/command'
import { runTally } from '@tally/testkit/processes/process'
import { program } from '@tally/testkit/processes/program'
import { asRole, freshDatabase } from '@tally/testkit/servers/database'
import { expect, test } from 'vitest'

const organization = '5b0f6c1e-7d34-4a52-9c0b-2f8e6a41d701'
const unnamed = ['keys', 'create', '--organization', organization, '--scope', 'events:read']
const create = [...unnamed, '--name', 'till']

test.each([
  [[]],
  [['migrate']],
  [['topics', 'create']],
  [['keys']],
  [['keys', 'create']],
  [['offsets', 'accept']],
  [['feed']],
])('%j --help is on stdout and a success', async args => {
  const ran = await tally([...args, '--help'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.stdout).toContain(['Usage: tally', ...args].join(' '))
})

test('--version prints the version', async () => {
  expect(await runTally(['--version'], {})).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  })
})

test('the program exits with 2 after wrong usage and with 1 after a failure, with a sentence on stderr', async () => {
  const ends = [
    { args: ['bogus'], code: 2, stderr: "tally: unknown command 'bogus'\n" },
    { args: ['migrate'], code: 1, stderr: expect.stringMatching(/^tally: Postgres does not answer.*\n$/) },
  ]
  for (const { args, ...end } of ends)
    expect(await runTally(args, { DATABASE_URL: 'postgres://127.0.0.1:1/x' })).toEqual({ stdout: '', ...end })
})

test.each([
  [['openapi'], { openapi: '3.1.1' }],
  [['asyncapi'], { asyncapi: '3.0.0', channels: { orders: { address: 'sagra.orders' } } }],
  [['schemas'], { organizations: {}, events: {}, orders: {}, refunds: { title: 'Refund' } }],
  [['schemas', 'orders'], { title: 'Order', properties: { totalAmount: { type: 'number' } } }],
])('contract %j is one JSON document, without any server', async (args, document) => {
  const ran = await tally(['contract', ...args], { TOPIC_PREFIX: 'sagra' })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(ran.stdout)).toMatchObject(document)
})

test('without a command, the help goes to stderr as wrong usage', async () => {
  expect(await tally([])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Commands:') })
})

test.each([
  [['bogus'], "unknown command 'bogus'"],
  [['--bogus'], "unknown option '--bogus'"],
  [['migrate', 'x'], "too many arguments for 'migrate'. Expected 0 arguments but got 1: x."],
  [['topics', 'create', '--partitions', '0'], '--partitions takes a whole number from 1 to 10000, got "0"'],
  [['rebuild', '--yes'], 'rebuild takes --yes only with --from-kafka'],
  [['feed', '--rate', 'x'], '--rate takes a number from 0 to 1000000, got "x"'],
  [['feed', '--json'], '--json goes with --list-organizations: leave it out'],
  [['contract', 'schemas', 'x'], 'TYPE takes one of organizations, events, orders, refunds, got "x"'],
  [['keys', 'list'], "required option '--organization <UUID>' not specified"],
  [[...create, '--name=bar'], '--name was given twice'],
  [['keys', 'list', '--organization', 'x'], '--organization takes a UUID (8-4-4-4-12 hex digits), got "x"'],
  [create.toSpliced(4, 2), "required option '--scope <SCOPE>' not specified"],
  [
    [...create, '--scope', 'bogus'],
    '--scope takes one of events:read, analytics:read, orders:read, got "bogus"',
  ],
  [[...unnamed, '--name', ''], '--name takes 1 to 200 characters: it must have at least 1 character'],
  [
    [...unnamed, '--name', 'n'.repeat(201)],
    '--name takes 1 to 200 characters: it must have at most 200 characters',
  ],
  ...['\x1b[2J', 'a\nb', '\x9b31m', '\u202e'].map((name): [string[], string] => [
    [...unnamed, '--name', name],
    '--name takes 1 to 200 characters: it must hold no control characters',
  ]),
  [['\x1b[2J'], "unknown command '\\u001b[2J'"],
  [
    [...create, '--event', '\x9b\u202e'],
    '--event takes a UUID (8-4-4-4-12 hex digits), got "\\u009b\\u202e"',
  ],
  [[...create, '--event', '12'], '--event takes a UUID (8-4-4-4-12 hex digits), got "12"'],
  [
    [...create, '--expires-at', 'tomorrow'],
    '--expires-at takes an RFC 3339 timestamp such as 2026-12-31T23:59:59Z, got "tomorrow"',
  ],
  [
    [...create, '--expires-at', '2020-01-01T00:00:00Z'],
    '--expires-at takes a time to come, got "2020-01-01T00:00:00Z"',
  ],
  [['offsets', 'bogus'], "too many arguments for 'list'. Expected 0 arguments but got 1: bogus."],
  [['offsets', 'skip', 'tally.orders', '0'], "required option '--to <OFFSET>' not specified"],
  [['offsets', 'accept', 'tally.orders', '-1'], 'PARTITION takes a whole number from 0, got "-1"'],
  [['offsets', 'skip', 'tally.orders', '0', '--to', 'x'], '--to takes a whole number from 0, got "x"'],
  [
    ['keys', 'revoke', 'tally_abc'],
    'KEYID is the 12 characters of 0-9, A-Z, a-z between the two "_" of the token',
  ],
])('tally %j is wrong usage, with a sentence that says what to do', async (args, sentence) => {
  expect(await tally(args)).toEqual({ code: 2, stdout: '', stderr: `tally: ${sentence}\n` })
})

test('an invalid setting is wrong usage, reported in one line without a password', async () => {
  const { code, stderr } = await tally(['migrate'], { DATABASE_URL: 'mysql://u:hidden@h/x' })
  expect(code).toBe(2)
  expect(stderr).toBe(
    'tally: DATABASE_URL is "mysql://***@h/x"; it takes postgres://user:password@host:port/database\n',
  )
})

test('a second factor that is required without a key for its secrets stops the administration area, not a command', async () => {
  const settings = { ADMIN_SECOND_FACTOR: 'required' }
  const area = await runTally(['admin'], settings)
  expect(area).toMatchObject({ code: 2, stderr: expect.stringContaining('set ADMIN_SECRET_KEY too') })
  expect(await tally(['contract', 'asyncapi'], settings)).toMatchObject({ code: 0, stderr: '' })
})

test.each([
  [
    ['keys', 'revoke', 'AbCdEf012345'],
    'Postgres does not answer at 127.0.0.1:1/x: start it, or set DATABASE_URL (connect ECONNREFUSED 127.0.0.1:1)',
  ],
  [
    ['topics', 'create'],
    'Kafka does not answer at 127.0.0.1:1: start it, or set KAFKA_BROKERS (Connection error: connect ECONNREFUSED 127.0.0.1:1)',
  ],
])('if a part is down, tally %j names it and its address, without the password', async (args, sentence) => {
  const settings = { DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/x', KAFKA_BROKERS: '127.0.0.1:1' }
  expect(await tally(args, settings)).toEqual({ code: 1, stdout: '', stderr: `tally: ${sentence}\n` })
})

test('the simulated organizations are listed without any server', async () => {
  const { code, stdout } = await tally(['feed', '--list-organizations', '--json'])
  expect(code).toBe(0)
  const lines = stdout.trim().split('\n')
  expect(lines.map(line => Object.keys(JSON.parse(line)))).toEqual(
    lines.map(() => ['organizationId', 'name']),
  )
})

/** Runs the program with a reader of stdout that closes at once. */
async function withoutReader(args: string[], settings: Record<string, string> = {}) {
  const child = spawn(program, args, { env: { ...process.env, ...settings } })
  child.stdout.destroy()
  child.stdin.on('error', () => {}).end('{}\n'.repeat(100_000))
  const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)])
  return { code, stderr }
}

test('a reader of stdout that closes early is not a failure', async () => {
  expect(await withoutReader(['contract', 'openapi'])).toEqual({ code: 0, stderr: '' })
})

test('without a reader of stdout, work is done to its end, and what was found is still the exit status', async () => {
  const { url, drop } = await freshDatabase({ migrated: false })
  try {
    expect(await withoutReader(['migrate'], { DATABASE_URL: url })).toEqual({ code: 0, stderr: '' })
    // The rights of the roles come last.
    const asAdmin = { DATABASE_URL: asRole(url, 'admin') }
    expect(await tally(['administrators', 'list'], asAdmin)).toMatchObject({ code: 0 })
    expect(await withoutReader(['records', 'check', '-'])).toMatchObject({ code: 1 })
  } finally {
    await drop()
  }
})
