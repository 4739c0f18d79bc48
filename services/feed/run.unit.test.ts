import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RawFeedOptions } from './defaults.ts'
import { parseFeedOptions } from './options.ts'
import type { Clock } from './pace.ts'
import type { TopicRecord } from './record.ts'
import { type FeedSummary, runFeed } from './run.ts'
import { simulate } from './simulate/simulate.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-feed-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** A clock that only advances while someone sleeps. */
function steppedClock(): Clock & { sleeps: number[] } {
  let nowMs = 5000
  const sleeps: number[] = []
  const sleep = async (ms: number) => {
    sleeps.push(ms)
    nowMs += ms
  }
  return { now: () => nowMs, sleep, sleeps }
}

type Sent = TopicRecord & { atMs: number }
type Fed = {
  batches: Sent[][]
  sent: Sent[]
  told: string[]
  clock: Clock
  summary: Promise<FeedSummary>
}

function feed(
  raw: Omit<RawFeedOptions, 'topicPrefix'>,
  onSend?: (batch: number, stop: () => void) => void,
): Fed {
  const clock = steppedClock()
  const controller = new AbortController()
  const told: string[] = []
  const progress = {
    show: (share: number, words: string) => void told.push(`${words}, ${share}`),
    close: (sentence: string) => void told.push(sentence),
  }
  const batches: Sent[][] = []
  const sent: Sent[] = []
  const send = async (records: TopicRecord[]) => {
    const stamped = records.map(record => ({ ...record, atMs: clock.now() - 5000 }))
    batches.push(stamped)
    sent.push(...stamped)
    onSend?.(batches.length, () => controller.abort())
  }
  const outlets = { send, clock, progress, signal: controller.signal }
  const summary = runFeed(parseFeedOptions({ topicPrefix: 'fair', ...raw }), outlets)
  return { batches, sent, told, clock, summary }
}

async function dataFile(lines: (object | string | Buffer)[], name = 'day.jsonl'): Promise<string> {
  const bytes = lines.map(line =>
    Buffer.concat([
      Buffer.isBuffer(line) ? line : Buffer.from(typeof line === 'string' ? line : JSON.stringify(line)),
      Buffer.from('\n'),
    ]),
  )
  const file = join(folder, name)
  const whole = Buffer.concat(bytes)
  await writeFile(file, name.endsWith('.gz') ? gzipSync(whole) : whole)
  return file
}

const order = (number: number, at = '2026-09-04T19:00:00Z') => ({
  topic: 'tally.orders',
  key: 'e',
  value: { orderId: `A-${number}`, orderDateTime: at },
})

test('a compressed file is sent line by line under the chosen topic prefix', async () => {
  const data = await dataFile(
    [{ topic: 'tally.events', key: 'e', value: { eventId: 'e', name: 'Caffè\u2028corretto' } }, order(1)],
    'day.jsonl.gz',
  )
  const { sent, summary, told } = feed({ data })
  expect((await summary).sent).toEqual({ organizations: 0, events: 1, orders: 1, refunds: 0 })
  expect(sent.map(({ topic, key, value }) => [topic, key, value])).toEqual([
    ['fair.events', 'e', '{"eventId":"e","name":"Caffè\u2028corretto"}'],
    ['fair.orders', 'e', '{"orderId":"A-1","orderDateTime":"2026-09-04T19:00:00Z"}'],
  ])
  expect(told).toEqual([
    '2 records sent, 1',
    'Done: sent 0 organizations, 1 events, 1 orders, 0 refunds in 0.0 s.',
  ])
})

test('a text value is sent as it is, and null as a record without a value', async () => {
  const lines = ['{not json', '', '{"a": 1}', null].map(value => ({
    topic: 'tally.orders',
    key: null,
    value,
  }))
  const { sent, summary } = feed({ data: await dataFile(lines) })
  await summary
  expect(sent.map(({ key, value }) => [key, value])).toEqual([
    [null, '{not json'],
    [null, ''],
    [null, '{"a": 1}'],
    [null, null],
  ])
})

test.each([
  ['{"topic"', 'not a JSON object {"topic","key","value"} in UTF-8'],
  ['[1]', 'not a JSON object {"topic","key","value"} in UTF-8'],
  [
    Buffer.from('{"topic":"tally.orders","key":"\xff","value":null}', 'latin1'),
    'not a JSON object {"topic","key","value"} in UTF-8',
  ],
  [
    { ...order(9), topic: 'fair.tickets' },
    'topic must be one of organizations, events, orders, refunds, with any prefix',
  ],
  [{ topic: 'tally.orders', value: {} }, 'key must be a text or null'],
  [{ topic: 'tally.orders', key: 'e' }, 'value must be an object, a text or null'],
  [{ topic: 'tally.orders', key: 'e', value: [1] }, 'value must be an object, a text or null'],
])('the line %j ends the feed with its number, after the lines before it were sent', async (line, reason) => {
  const data = await dataFile([order(1), order(2), line, order(3)])
  const { sent, summary } = feed({ data })
  await expect(summary).rejects.toThrow(`${data}, line 3: ${reason} (2 records were sent before that)`)
  expect(sent.length).toBe(2)
})

test('a line may name its topic without a prefix or with another, have a payload as kcat prints it, or be blank', async () => {
  const { value } = order(2)
  const kcat = { topic: 'other.orders', partition: 3, offset: 8, key: 'e', payload: JSON.stringify(value) }
  const data = await dataFile([{ ...order(1), topic: 'orders' }, '', kcat, ' \t\r'])
  const { sent, summary } = feed({ data })
  expect((await summary).sent.orders).toBe(2)
  expect(sent.map(({ topic, value }) => [topic, value])).toEqual(
    [order(1), order(2)].map(({ value }) => ['fair.orders', JSON.stringify(value)]),
  )
})

test('the last line may lack a newline', async () => {
  const data = join(folder, 'day.jsonl')
  await writeFile(data, `${JSON.stringify(order(1))}\n${JSON.stringify(order(2))}`)
  expect((await feed({ data }).summary).sent.orders).toBe(2)
})

test('a missing or truncated file is an error that names it', async () => {
  await expect(feed({ data: join(folder, 'none.jsonl') }).summary).rejects.toThrow(
    `cannot read ${folder}/none.jsonl: ENOENT`,
  )
  const cut = join(folder, 'cut.jsonl.gz')
  await writeFile(cut, gzipSync(Buffer.from(JSON.stringify(order(1)))).subarray(0, -12))
  await expect(feed({ data: cut }).summary).rejects.toThrow(
    `cannot read ${cut} to its end: unexpected end of file`,
  )
})

test('without a pace, records are sent in batches of 1,000, in the order of the file', async () => {
  const data = await dataFile(Array.from({ length: 2300 }, (_, index) => order(index)))
  const { batches, sent, summary } = feed({ data, rate: 0 })
  await summary
  expect(batches.map(({ length }) => length)).toEqual([1000, 1000, 300])
  expect(sent.map(({ value }) => value)).toEqual(
    Array.from({ length: 2300 }, (_, index) => JSON.stringify(order(index).value)),
  )
})

test('a rate spreads the orders of a file over the wall clock', async () => {
  const data = await dataFile(Array.from({ length: 5 }, (_, index) => order(index)))
  const { sent, summary } = feed({ data, rate: 2 })
  expect((await summary).elapsedMs).toBe(2000)
  expect(sent.map(({ atMs }) => atMs)).toEqual([0, 500, 1000, 1500, 2000])
})

test('a speed replays the real gaps of a file, shortened; a record without a time goes out at once', async () => {
  const data = await dataFile([
    order(1),
    order(2, '2026-09-04T21:10:00+02:00'),
    order(3, 'soon'),
    order(4, '2026-09-05T19:10:00Z'),
  ])
  const { sent, summary } = feed({ data, speed: 600 })
  await summary
  expect(sent.map(({ atMs }) => atMs)).toEqual([0, 1000, 1000, 145_000])
})

test('the rate of a simulated evening is its average: 300 orders at 10 a second take half a minute', async () => {
  const { summary } = feed({ orders: 300, rate: 10, evenings: 2 })
  const { elapsedMs } = await summary
  expect(elapsedMs).toBeGreaterThan(55_000)
  expect(elapsedMs).toBeLessThan(62_000)
})

test('a simulated evening never stands still: not in its thin hours, nor before the next evening', async () => {
  const { sent, summary } = feed({ orders: 600, rate: 10, evenings: 2 })
  await summary
  const times = sent.map(({ atMs }) => atMs)
  const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0))
  expect(Math.max(...gaps)).toBeLessThan(110)
})

test('pace and batches do not change what a simulation sends', async () => {
  const simulation = { seed: 3, orders: 200, evenings: 1, date: '2026-09-04' }
  const expected = [...simulate(simulation)].map(({ topic, key, value }) => ({
    topic: `fair.${topic}`,
    key,
    value,
  }))
  for (const pace of [{ rate: 0 }, { rate: 40 }, { speed: 900 }]) {
    const { sent, summary } = feed({ seed: 3, orders: 200, ...pace })
    await summary
    expect(sent.map(({ topic, key, value }) => ({ topic, key, value }))).toEqual(expected)
  }
})

test('a signal ends an endless feed after the batch in flight, and the feed says so', async () => {
  const { batches, summary, told } = feed({ evenings: 0, rate: 0 }, (batch, stop) => batch === 3 && stop())
  const { sent, isStopped } = await summary
  expect(isStopped).toBe(true)
  expect(batches.length).toBe(3)
  expect(Object.values(sent).reduce((sum, count) => sum + count, 0)).toBe(3000)
  expect(told.at(-1)).toMatch(/^Stopped: sent 4 organizations, /)
})

test('a failed send ends the feed with the number of records before it', async () => {
  const fail = (batch: number) => {
    if (batch === 3) throw new Error('the broker is gone')
  }
  await expect(feed({ rate: 0 }, fail).summary).rejects.toThrow(
    'the broker is gone (2000 records were sent before that)',
  )
})
