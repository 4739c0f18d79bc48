import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { orderExample, organizationExample } from '@tally/contract'
import { createTopics, partitionOf, topicNames } from '@tally/kafka'
import { parsedLines, tally } from '@tally/testkit/processes/command'
import { connectForTest, sendAll } from '@tally/testkit/servers/kafka'
import { afterAll, expect, inject, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'tally-records-'))
afterAll(() => rmSync(folder, { recursive: true }))

const [organizations, orders] = [organizationExample, orderExample]
const key = orders.eventId
const good = { topic: 'tally.orders', key, value: orders }

function fileOf(lines: unknown[], name = 'records.jsonl'): string {
  const path = join(folder, name)
  const bytes = Buffer.from(
    lines.map(line => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  )
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(bytes) : bytes)
  return path
}

const check = (args: string[], input?: string) => tally(['records', 'check', ...args], {}, input)

test('a file of good records has no findings', async () => {
  expect(await check([fileOf([good, '', good], 'good.jsonl.gz')])).toEqual({
    code: 0,
    stdout: '',
    stderr: 'records check: 2 records checked, 0 rejected\n',
  })
})

test('each bad line is named with its reason, its field and what it takes, and no value is printed', async () => {
  const marker = 'MARKER\u001b[31m'
  const lines = [
    good,
    { ...good, value: { ...orders, totalAmount: 12.505, orderId: marker } },
    { ...good, value: { ...orders, paymentMethod: [marker] } },
    { ...good, value: `\0\0\0\0\u0001${marker}` },
    { ...good, key: key.toUpperCase() },
    { topic: marker, key, value: {} },
    marker,
    { topic: 'tally.orders', key, partition: (partitionOf(Buffer.from(key), 7) + 1) % 7, payload: orders },
    { topic: 'x.organizations', key: organizations.organizationId, partition: 0, value: organizations },
  ]
  const asked = [fileOf(lines), '--partitions', '7']
  const { code, stdout, stderr } = await check([...asked, '--json'])
  expect(code).toBe(1)
  expect(stderr).toBe(
    'records check: 7 records checked, 4 rejected, 1 in another partition than murmur2 chooses, 2 lines without a record\n',
  )
  expect(parsedLines(stdout)).toMatchObject([
    {
      line: 2,
      type: 'orders',
      reason: 'schema',
      field: 'orderId',
      takes: expect.stringContaining('must be'),
    },
    { line: 2, reason: 'schema', field: 'totalAmount' },
    { line: 3, reason: 'schema', field: 'paymentMethod' },
    { line: 4, reason: 'not-json', mistake: 'schema-registry' },
    { line: 5, reason: 'key-mismatch', field: 'key', mistake: 'upper-case-key' },
    { line: 6, reason: 'line', takes: expect.stringMatching(/^topic: /) },
    { line: 7, reason: 'line' },
    { line: 8, reason: 'partition', mistake: 'partitioner' },
  ])
  const { stdout: columns } = await check(asked)
  expect(columns).toMatch(/^AT +TYPE +REASON +FIELD +TAKES\nline 2 +orders +schema +orderId +must be/)
  for (const printed of [stdout, columns, stderr])
    for (const secret of ['MARKER', '\u001b']) expect(printed).not.toContain(secret)
})

test('with --type, lines from stdin are values, whose keys are taken to be right', async () => {
  const input = [orders, { ...orders, version: 0 }, [orders], 'x']
    .map(line => JSON.stringify(line))
    .join('\n')
  const { code, stdout } = await check(['-', '--type', 'orders', '--json'], `${input}\nnot JSON\n`)
  expect(code).toBe(1)
  expect(parsedLines(stdout)).toMatchObject([
    { line: 2, reason: 'schema', field: 'version', takes: 'must be at least 1' },
    { line: 3, reason: 'schema', field: 'value' },
    { line: 4, reason: 'schema', field: 'value' },
    { line: 5, reason: 'not-json', field: 'value' },
  ])
})

test('lines that are not UTF-8 are judged as such, not as what replacement characters make of them', async () => {
  const line = Buffer.from(
    JSON.stringify({ ...good, value: { ...orders, paymentMethod: 'Caffè' } }),
    'latin1',
  )
  const path = join(folder, 'latin1.jsonl')
  writeFileSync(path, Buffer.concat([Buffer.from(`\ufeff${JSON.stringify(good)}\n`), line]))
  expect(parsedLines((await check([path, '--json'])).stdout)).toMatchObject([
    { line: 1, reason: 'line', takes: 'must begin without a byte order mark' },
    { line: 2, reason: 'line', takes: expect.stringContaining('must be UTF-8') },
  ])
  writeFileSync(path, Buffer.from(`\ufeff${JSON.stringify(good)}\n`, 'utf16le'))
  expect(await check([path])).toMatchObject({ code: 1, stderr: expect.stringContaining('it is UTF-16') })
})

test('with --event, only records that name the event are judged, also in an envelope or under another key', async () => {
  const other = '0b5a0000-0000-4000-8000-000000000002'
  const bad = { ...orders, version: 0 }
  const lines = [
    { ...good, value: bad },
    { topic: 'tally.orders', key: other, value: { ...bad, eventId: other } },
    { topic: 'tally.orders', key: null, value: { payload: { ...bad, eventId: key.toUpperCase() } } },
    { topic: 'tally.orders', key, value: null },
  ]
  const { stdout, stderr } = await check([fileOf(lines), '--event', key, '--json'])
  expect(parsedLines(stdout).map(({ line }) => line)).toEqual(expect.arrayContaining([1, 3, 4]))
  expect(stderr).toContain('3 records checked, 3 rejected')
})

test('a value of more than 8 MiB is too large, as in the projector', async () => {
  const note = 'x'.repeat(8 * 1024 * 1024)
  const { code, stdout } = await check([fileOf([{ ...good, value: { ...orders, note } }]), '--json'])
  expect({ code, findings: parsedLines(stdout) }).toMatchObject({
    code: 1,
    findings: [{ line: 1, reason: 'too-large' }],
  })
  expect(stdout.length).toBeLessThan(1_000)
})

test('--from-kafka judges what the topics hold, by offset, and stores nothing', async () => {
  const kafka = connectForTest()
  const topicPrefix = `test-${randomBytes(6).toString('hex')}`
  await createTopics(kafka, { topicPrefix, partitions: 3, replicationFactor: 1 })
  const { orders: topic, organizations: small } = topicNames(topicPrefix)
  const right = partitionOf(Buffer.from(key), 3)
  const [value, wrong] = [JSON.stringify(orders), (right + 1) % 3]
  await sendAll(kafka, [
    { topic: small, key: organizations.organizationId, value: JSON.stringify(organizations) },
    { topic, key, value },
    { topic, key, value: JSON.stringify({ schema: null, payload: orders }) },
    { topic, key, value, partition: wrong },
    { topic, key, value: null },
  ])
  const settings = { KAFKA_BROKERS: inject('servers').kafkaBrokers, TOPIC_PREFIX: topicPrefix }
  const { code, stdout, stderr } = await tally(['records', 'check', '--from-kafka', '--json'], settings)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'records check: 5 records checked, 2 rejected, 1 in another partition than murmur2 chooses\n',
  })
  const byPlace = parsedLines(stdout).sort((one, other) => one.reason.localeCompare(other.reason))
  expect(byPlace).toMatchObject([
    { topic, partition: right, offset: 2, reason: 'not-json', mistake: 'no-value' },
    { topic, partition: wrong, offset: 0, reason: 'partition', mistake: 'partitioner' },
    { topic, partition: right, offset: 1, reason: 'schema', mistake: 'connect-schema' },
  ])
})

test.each([
  [[], 'give a FILE, - for stdin, or --from-kafka'],
  [['x', '--from-kafka'], 'give a FILE or --from-kafka, not both'],
  [['--from-kafka', '--type', 'orders'], '--type and --partitions go with a FILE: leave them out'],
  [['x', '--type', 'y'], '--type takes one of organizations, events, orders, refunds, got "y"'],
  [['x', '--event', '7'], '--event takes a UUID (8-4-4-4-12 hex digits), got "7"'],
  [['x', '--partitions', '0'], '--partitions takes a whole number from 1 to 99999, got "0"'],
])('records check %j is wrong usage', async (args, message) => {
  expect(await check(args)).toEqual({ code: 2, stdout: '', stderr: `tally: ${message}\n` })
})

test('a file that is not there is a failure that names it', async () => {
  expect(await check(['/not/there'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^tally: cannot read \/not\/there to its end: ENOENT/),
  })
})
