import { createHash, randomBytes } from 'node:crypto'
import {
  createTopics,
  type KafkaRecord,
  openProducer,
  type RecordHeaders,
  readTopic,
  topicNames,
} from '@tally/kafka'
import { parsedLines, tally } from '@tally/testkit/processes/command'
import { deadLetterRecord } from '@tally/testkit/records/deadLetterRecord'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { connectTo } from '@tally/testkit/servers/kafka'
import { afterAll, beforeEach, expect, inject, test } from 'vitest'

const database = await databaseOfFile()
const kafka = connectTo(inject('servers').kafkaBrokers)
let prefix: string
let settings: Record<string, string>

beforeEach(async () => {
  prefix = `test-${randomBytes(6).toString('hex')}`
  settings = {
    KAFKA_BROKERS: inject('servers').kafkaBrokers,
    DATABASE_URL: database.url,
    TOPIC_PREFIX: prefix,
  }
  await createTopics(kafka, { topicPrefix: prefix, partitions: 4, replicationFactor: 1 })
})
afterAll(() => kafka.close())

const run = (...args: string[]) => tally(['dead-letters', ...args], settings)
const id = (offset: number, partition = 0) => `${prefix}.orders-${partition}-${offset}`

type Over = Parameters<typeof deadLetterRecord>[1]

/** Given these dead letters of the orders, or these records of any program, in this order. */
async function given(...deadLetters: (Over | { foreign: RecordHeaders })[]): Promise<void> {
  const { deadLetters: topic, orders } = topicNames(prefix)
  const producer = await openProducer(kafka)
  await producer.send(
    deadLetters.map(over => {
      if (over && 'foreign' in over) return { topic, key: null, value: 'secret', headers: over.foreign }
      const { key, value, headers } = deadLetterRecord(orders, over)
      return { topic, key, value, headers }
    }),
  )
  await producer.close()
}

async function listed(): Promise<Record<string, unknown>[]> {
  const { code, stdout } = await run('list', '--json')
  expect(code).toBe(0)
  return parsedLines(stdout)
}

async function sentAgain(): Promise<(KafkaRecord & { partition: number })[]> {
  const records = []
  for await (const read of readTopic(kafka, topicNames(prefix).orders))
    records.push(...read.records.map(record => ({ ...record, partition: read.partition })))
  return records
}

test('dead letters are listed as one JSON object per line, the oldest first, with their key and never a value', async () => {
  const key = Buffer.from([0xff, 0x00, 0x10])
  await given({ offset: 7, key: Buffer.from('evento è') }, { offset: 3, key: null }, { offset: 9, key })
  const { code, stdout, stderr } = await run('list', '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/)
  const rest = { reason: 'schema', message: 'items: must be an array', at }
  expect(parsedLines(stdout)).toEqual([
    { id: id(7), key: 'evento è', ...rest },
    { id: id(3), key: null, ...rest },
    { id: id(9), key: null, keyBase64: key.toString('base64'), ...rest },
  ])
})

test('without --json each has a line under a heading, and no key can move the cursor', async () => {
  await given({ offset: 7 }, { offset: 3, key: null }, { offset: 9, key: Buffer.from('\u001b[2J\nx') })
  const { code, stdout } = await run('list')
  expect(code).toBe(0)
  const [heading, ...lines] = stdout.trimEnd().split('\n')
  expect(heading).toMatch(/^AT +REASON +ID +KEY +MESSAGE$/)
  expect(lines).toEqual([
    expect.stringMatching(/Z +schema +\S+\.orders-0-7 +key +items: must be an array$/),
    expect.stringContaining(' (none) '),
    expect.stringContaining(' \\u001b[2J\\u000ax '),
  ])
})

test('with --limit only the newest dead letters are listed, the oldest of them first', async () => {
  await given(...[1, 2, 3, 4, 5].map(offset => ({ offset, value: Buffer.from(`of ${offset}`) })))
  const { code, stdout } = await run('list', '--json', '--limit', '2')
  expect({ code, ids: parsedLines(stdout).map(line => line.id) }).toEqual({ code: 0, ids: [id(4), id(5)] })
  const all = await run('list', '--json', '--limit', '9')
  expect(all.stdout).toBe((await run('list', '--json')).stdout)
  expect(JSON.parse((await run('show', id(2))).stdout).value).toBe('of 2')
  for (const limit of ['0', '-1', 'x']) {
    const stderr = `tally: --limit takes a whole number from 1, got "${limit}"\n`
    expect(await run('list', `--limit=${limit}`)).toEqual({ code: 2, stdout: '', stderr })
  }
})

test('nothing to list or to replay is not a failure, and neither are offsets that were given up', async () => {
  expect(await run('list', '--json')).toEqual({ code: 0, stdout: '', stderr: 'there are no dead letters\n' })
  await given({ offset: 4, key: null, value: null, reason: 'gap' })
  expect(await run('replay', '--all')).toEqual({
    code: 0,
    stdout: 'there are no dead letters to replay\n',
    stderr: '',
  })
})

test('a dead letter that a crash wrote twice is listed once and replayed once', async () => {
  await given({ offset: 1 }, { offset: 1 }, { offset: 2 }, { offset: 1 })
  expect((await listed()).map(deadLetter => deadLetter.id)).toEqual([id(1), id(2)])
  expect(await run('replay', '--all')).toEqual({ code: 0, stdout: 'replayed 2 dead letters\n', stderr: '' })
  expect(await sentAgain()).toHaveLength(2)
  expect(await listed()).toEqual([])
})

test('replay --reason sends the dead letters of that reason alone', async () => {
  const of = (offset: number, reason: string): Over => ({ offset, value: Buffer.from(reason), reason })
  await given(of(1, 'schema'), { foreign: {} }, of(2, 'contradiction'), of(3, 'schema'))
  expect(await run('replay', '--reason', 'contradiction')).toMatchObject({
    code: 0,
    stdout: 'replayed 1 dead letter\n',
  })
  expect((await sentAgain()).map(({ value }) => String(value))).toEqual(['contradiction'])
  expect(await run('replay', '--reason', 'contradiction')).toMatchObject({
    code: 0,
    stdout: 'there are no dead letters of the reason contradiction to replay\n',
  })
  expect((await listed()).map(deadLetter => deadLetter.id)).toEqual([id(1), id(3)])
})

test.each([
  [['--reason', 'lost'], '--reason takes one of too-large, not-json, schema, '],
  [['--reason', 'schema', '--all'], 'replay takes IDs, --all or --reason, only one of them'],
  [[], 'replay takes the IDs of dead letters, --all, or --reason REASON'],
])('replay %j is wrong usage', async (args, sentence) => {
  const { code, stderr } = await run('replay', ...args)
  expect(code).toBe(2)
  expect(stderr).toContain(sentence)
})

test('records of other programs are left out, with a warning that counts them', async () => {
  const connect = { '__connect.errors.topic': 'other', '__connect.errors.partition': '0' }
  await given({ foreign: {} }, { offset: 1 }, { foreign: connect })
  const stderr = 'tally: left out 2 records of the dead-letter topic that Tally did not put there\n'
  const list = await run('list', '--json')
  expect(list).toMatchObject({ code: 0, stderr })
  expect(list.stdout.split('\n')).toHaveLength(2)
  expect(await run('replay', '--all')).toEqual({ code: 0, stdout: 'replayed 1 dead letter\n', stderr })
})

test('show prints a whole dead letter: text as it is, other bytes in base64', async () => {
  const binary = Buffer.from([0xc3, 0x28])
  await given(
    { offset: 1, headers: { till: 'è', 'tally.reason': 'mine', twice: ['a', null], bytes: binary } },
    { offset: 2, key: binary, value: binary },
    { offset: 3, key: null, value: null },
  )
  const show = async (of: string) => {
    const { code, stdout, stderr } = await run('show', of)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^\{\n {2}"id"/)
    return JSON.parse(stdout)
  }
  const first = await show(id(1))
  expect(first).toMatchObject({ id: id(1), reason: 'schema', key: 'key', value: '{"items":null}' })
  expect(first.source).toEqual({ topic: `${prefix}.orders`, partition: 0, offset: 1 })
  expect(first.headers.slice(0, 6)).toEqual([
    { name: 'till', value: 'è' },
    { name: 'tally.reason', value: 'mine' },
    { name: 'tally.reason', value: 'schema' },
    { name: 'twice', value: 'a' },
    { name: 'twice', value: null },
    { name: 'bytes', value: null, valueBase64: 'wyg=' },
  ])
  expect(await show(id(2))).toMatchObject({ key: null, keyBase64: 'wyg=', value: null, valueBase64: 'wyg=' })
  expect(await show(id(3))).toMatchObject({ key: null, value: null })
})

test('a replayed record has its own key, value and headers, without the added ones', async () => {
  const bytes = Buffer.from([0xff, 0x00])
  const headers = { till: ['3', null], 'tally.reason': 'mine', '__connect.errors.offset': ['a', 'b'] }
  await given(
    { offset: 1, headers },
    { offset: 2, key: bytes, value: bytes },
    { offset: 3, partition: 3, key: null, value: null },
  )
  const ids = [id(1), id(2), id(3, 3)]
  expect(await run('replay', ...ids)).toEqual({
    code: 0,
    stdout: ids.map(one => `replayed ${one}\n`).join(''),
    stderr: '',
  })
  const sent = await sentAgain()
  expect(sent).toHaveLength(3)
  const first = sent.find(({ key }) => key?.toString() === 'key')
  expect(first?.value?.toString()).toBe('{"items":null}')
  expect({ ...first?.headers }).toEqual({
    till: [Buffer.from('3'), null],
    'tally.reason': Buffer.from('mine'),
    '__connect.errors.offset': [Buffer.from('a'), Buffer.from('b')],
  })
  expect(sent.find(({ key }) => key?.equals(bytes))).toMatchObject({ value: bytes, headers: {} })
  expect(sent.find(({ key }) => key === null)).toMatchObject({ partition: 3, value: null, headers: {} })
})

/** The dead letter, without its value, of a record of 1.5 MB at this offset of partition 0 of the orders. */
function withoutValue(offset: number, value: Buffer, bytes = value.length): Over {
  const sha256 = createHash('sha256').update(value).digest('hex')
  const headers = { 'tally.value-bytes': String(bytes), 'tally.value-sha256': sha256 }
  return { offset, value: null, headers }
}

test('a dead letter without its value is replayed once, with the value that its topic still holds', async () => {
  const value = Buffer.alloc(600_000, 'abc')
  const producer = await openProducer(kafka)
  const { orders: topic } = topicNames(prefix)
  await producer.send([{ topic, key: 'key', value, headers: { till: '3' }, partition: 0 }])
  await producer.close()
  await given(withoutValue(0, value))
  const shown = JSON.parse((await run('show', id(0))).stdout)
  expect(shown).toMatchObject({ value: null, valueLeftOut: { bytes: 600_000 } })
  expect(await run('replay', id(0))).toEqual({ code: 0, stdout: `replayed ${id(0)}\n`, stderr: '' })
  expect(await run('replay', '--all')).toMatchObject({ stdout: 'there are no dead letters to replay\n' })
  const sent = (await sentAgain()).filter(({ offset, partition }) => partition !== 0 || offset > 0)
  expect(sent).toHaveLength(1)
  expect(sent[0]?.value?.equals(value)).toBe(true)
  expect({ ...sent[0]?.headers }).toEqual({ till: Buffer.from('3') })
})

test('a dead letter whose value is gone or too large cannot be replayed, and no null value is sent', async () => {
  const value = Buffer.from('v')
  await given(withoutValue(7, value), withoutValue(8, value, 540_000_000), { offset: 9 })
  const gone = `${id(7)} cannot be replayed: the dead letter has no value, and offset 7 of ${prefix}.orders-0 no longer holds the record`
  const large = `${id(8)} cannot be replayed: its value of 540000000 bytes is at offset 8 of ${prefix}.orders-0, but Tally reads at most 8388608`
  expect(await run('replay', id(7), id(8))).toEqual({
    code: 1,
    stdout: '',
    stderr: `tally: ${gone}\ntally: ${large}\ntally: 2 dead letters cannot be replayed\n`,
  })
  expect(await run('replay', '--all')).toEqual({
    code: 1,
    stdout: 'replayed 1 dead letter\n',
    stderr: `tally: ${gone}\ntally: ${large}\ntally: 2 dead letters cannot be replayed\n`,
  })
  expect((await sentAgain()).map(({ value }) => value?.toString())).toEqual(['{"items":null}'])
  expect((await listed()).map(deadLetter => deadLetter.id)).toEqual([id(7), id(8)])
})

test('a dead letter is replayed once, even by two commands at the same time, and then not listed', async () => {
  await given({ offset: 1 }, ...Array.from({ length: 50 }, (_, index) => ({ offset: index + 2 })))
  expect(await run('replay', id(1), id(1))).toMatchObject({ code: 0, stdout: `replayed ${id(1)}\n` })
  const runs = await Promise.all([run('replay', '--all'), run('replay', '--all'), run('replay', id(9))])
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0])
  expect(await sentAgain()).toHaveLength(51)
  expect(await listed()).toEqual([])
  expect(await run('replay', id(1))).toEqual({
    code: 0,
    stdout: '',
    stderr: `tally: ${id(1)} was replayed before: nothing is sent\n`,
  })
  expect(await sentAgain()).toHaveLength(51)
})

test('a dead letter with the id of a replayed one, because the topic was created again, is listed and replayed', async () => {
  await given({ offset: 1 })
  expect(await run('replay', id(1))).toMatchObject({ code: 0 })
  expect(await listed()).toEqual([])
  await given({ offset: 1, value: Buffer.from('{"of":"the new topic"}') })
  expect((await listed()).map(deadLetter => deadLetter.id)).toEqual([id(1)])
  expect(await run('replay', id(1))).toMatchObject({ code: 0, stdout: `replayed ${id(1)}\n` })
  expect(await listed()).toEqual([])
  const values = (await sentAgain()).map(({ value }) => String(value))
  expect(values.toSorted()).toEqual(['{"items":null}', '{"of":"the new topic"}'])
})

test('a replay that was killed before it could send is done by the next one, but none that was sent', async () => {
  // The topic no longer holds the value of the second.
  await given({ offset: 1 }, withoutValue(7, Buffer.from('v')))
  const started_at = '2026-09-05T00:00:00Z'
  const begun = { letter_id: id(1), started_at }
  const sent = { letter_id: id(7), started_at, sent_at: started_at }
  await database.db.insertInto('replayed_letters').values([begun, sent]).execute()
  expect((await listed()).map(deadLetter => deadLetter.id)).toEqual([id(1)])
  expect(await run('replay', id(1), id(7))).toEqual({
    code: 0,
    stdout: `replayed ${id(1)}\n`,
    stderr: `tally: ${id(7)} was replayed before: nothing is sent\n`,
  })
  expect(await sentAgain()).toHaveLength(1)
  expect(await listed()).toEqual([])
})

test('an unknown id is a failure, but the others are replayed', async () => {
  await given({ offset: 1 })
  expect(await run('replay', id(5), id(1), 'other-0-0')).toEqual({
    code: 1,
    stdout: `replayed ${id(1)}\n`,
    stderr: `tally: there is no dead letter ${id(5)}, nor other-0-0: see \`tally dead-letters list\`\n`,
  })
  expect(await sentAgain()).toHaveLength(1)
  expect(await run('show', id(5))).toMatchObject({ code: 1, stdout: '' })
})

test('no ids, ids with --all, and invalid ids are wrong usage, and nothing is sent', async () => {
  await given({ offset: 1 })
  const wrong = [['replay'], ['replay', '--all', id(1)], ['replay', id(1), 'x'], ['show', 'x'], ['show'], []]
  for (const args of wrong) expect(await run(...args)).toMatchObject({ code: 2, stdout: '' })
  expect(await sentAgain()).toEqual([])
  expect((await run('replay', id(1), '7')).stderr).toBe(
    'tally: a dead letter\'s ID is <topic>-<partition>-<offset>, such as tally.orders-3-1204, got "7"\n',
  )
})

test('a part that is down and a missing topic are reported in one sentence', async () => {
  const down = '127.0.0.1:1'
  const ranWith = (more: Record<string, string>, commands: string[][]) =>
    Promise.all(commands.map(args => tally(['dead-letters', ...args], { ...settings, ...more })))
  const both = [['list'], ['replay', '--all']]
  const all = [...both, ['show', id(1)]]
  for (const ran of await ranWith({ KAFKA_BROKERS: down }, all)) {
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toMatch(
      /^tally: Kafka does not answer at 127\.0\.0\.1:1: start it, or set KAFKA_BROKERS \(.*\)\n$/,
    )
  }
  for (const ran of await ranWith({ TOPIC_PREFIX: `${prefix}-unmade` }, all)) {
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toMatch(
      /^tally: the topic \S+\.dead-letters is not there: run `tally topics create`\n$/,
    )
  }
  for (const ran of await ranWith({ DATABASE_URL: `postgres://u:hidden@${down}/d` }, both)) {
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toMatch(/^tally: Postgres does not answer at 127\.0\.0\.1:1\/d: .*\n$/)
    expect(ran.stderr).not.toContain('hidden')
  }
})
