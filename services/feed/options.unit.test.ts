import { expect, test } from 'vitest'
import type { RawFeedOptions } from './defaults.ts'
import { FeedOptionError, parseFeedOptions } from './options.ts'

const parse = (raw: Omit<RawFeedOptions, 'topicPrefix'>) => parseFeedOptions({ topicPrefix: 'fair', ...raw })

test('without options a feed is one evening of 6,000 orders, 20 orders per second', () => {
  expect(parse({})).toEqual({
    topicPrefix: 'fair',
    source: { kind: 'simulation', seed: 1, orders: 6000, evenings: 1, date: '2026-09-04' },
    pace: { kind: 'rate', ordersPerSecond: 20 },
  })
})

test('a file is sent as fast as possible unless a pace is given', () => {
  expect(parse({ data: 'day.jsonl' })).toEqual({
    topicPrefix: 'fair',
    source: { kind: 'replay', file: 'day.jsonl' },
    pace: { kind: 'unpaced' },
  })
  expect(parse({ data: 'day.jsonl', rate: '50' }).pace).toEqual({ kind: 'rate', ordersPerSecond: 50 })
  expect(parse({ data: 'day.jsonl', speed: '2.5' }).pace).toEqual({ kind: 'speed', factor: 2.5 })
})

test('rate 0 is as fast as possible, and can be combined with a speed', () => {
  expect(parse({ rate: '0' }).pace).toEqual({ kind: 'unpaced' })
  expect(parse({ rate: '0', speed: '60' }).pace).toEqual({ kind: 'speed', factor: 60 })
})

test.each([
  [{ rate: 'fast' }, '--rate takes a number from 0 to 1000000, got "fast"'],
  [{ rate: '-1' }, '--rate takes a number from 0 to 1000000, got "-1"'],
  [{ rate: '' }, '--rate takes a number from 0 to 1000000, got ""'],
  [{ speed: '0' }, '--speed takes a number above 0, got "0"; to send without pauses use --rate 0'],
  [{ rate: '5', speed: '5' }, '--rate and --speed both set the pace: use only one of them'],
  [{ seed: '1.5' }, '--seed takes a whole number from 0 to 9007199254740991, got "1.5"'],
  [{ orders: '0' }, '--orders takes a whole number from 1 to 10000000, got "0"'],
  [{ evenings: '100001' }, '--evenings takes a whole number from 0 to 100000, got "100001"'],
  [{ date: '2026-02-30' }, '--date takes a date YYYY-MM-DD from 1971-01-01 to 2999-12-31, got "2026-02-30"'],
  [{ data: 'day.jsonl', seed: '3' }, '--seed is for a simulated evening: leave it out, or leave out --data'],
  [{ data: '' }, '--data takes the path of a file of JSON lines, got an empty text'],
])('%j is wrong usage, with a sentence that says what to do', (raw, sentence) => {
  expect(() => parse(raw)).toThrow(new FeedOptionError(sentence))
})
