import type { Reply } from '@tally/testkit/processes/http'
import { expect, test } from 'vitest'
import { checkSizes } from './checkPolled.ts'
import type { PolledTally } from './polled.ts'

const question = (text: string) => ({ path: '/', token: '', etag: '', text })
const use = {
  questions: [question('a'.repeat(1_000)), question('b'.repeat(3_000))],
  order: Uint32Array.of(0, 1, 1),
} as PolledTally
// "HTTP/1.1 200 OK", "a: b" and an empty line, each with its line break.
const reply = { status: 200, headers: { a: 'b' } } as unknown as Reply
const head = 17 + 6 + 2
const loadOf = (requests: number, bytes: number) => ({ rate: 1, median: 1, p99: 1, requests, bytes })

test('a load received the bytes of the answers to what it sent, in their order and again from the start', () => {
  checkSizes(use, { load: loadOf(3, head + 7_000 / 3), reply, expected: 'whole' })
  checkSizes(use, { load: loadOf(4, head + 8_000 / 4), reply, expected: 'whole' })
  expect(() => checkSizes(use, { load: loadOf(4, head + 7_000 / 3), reply, expected: 'whole' })).toThrow(
    'answers of 2358 bytes on average instead of 2025',
  )
})

test('a load of 304s with some whole answers in it is refused', () => {
  const unchanged = { ...reply, status: 304 }
  const bare = head + 'Not Modified'.length - 'OK'.length
  checkSizes(use, { load: loadOf(100, bare), reply: unchanged, expected: 'unchanged' })
  expect(() =>
    checkSizes(use, { load: loadOf(100, bare + 10), reply: unchanged, expected: 'unchanged' }),
  ).toThrow('bytes on average')
})
