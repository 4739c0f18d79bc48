import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openKept, readKept } from './kept.ts'
import type { TopicRecord } from './record.ts'
import { runFeed } from './run.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-kept-'))
  file = join(folder, 'evening.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

const run = { seed: 3, date: '2026-09-04', orders: 500 }

/** Feeds from where the file says until `batches` were sent; without them, to the end. */
async function feed(batches = Number.POSITIVE_INFINITY): Promise<string[]> {
  const sent: TopicRecord[] = []
  const stopping = new AbortController()
  const kept = openKept(file, run)
  let count = 0
  const send = async (records: TopicRecord[]) => {
    sent.push(...records)
    if (++count >= batches) stopping.abort()
  }
  const from = readKept(file)?.from
  const source = { kind: 'simulation', ...run, evenings: 1, ...(from === undefined ? {} : { from }) } as const
  const clock = { now: () => 0, sleep: async () => {} }
  const progress = { show: () => {}, close: () => {} }
  await runFeed(
    { topicPrefix: 't', source, pace: { kind: 'unpaced' } },
    { send, keep: kept.keep, clock, progress, signal: stopping.signal },
  )
  kept.close()
  return sent.filter(({ topic }) => /orders|refunds/.test(topic)).map(({ value }) => value ?? '')
}

test('a feed that was stopped goes on where it was, and sends each order and refund once', async () => {
  const first = await feed(1)
  const second = await feed()
  rmSync(file)
  const whole = await feed()
  expect(first.length).toBeGreaterThan(100)
  expect(second.length).toBeGreaterThan(100)
  expect([...first, ...second]).toEqual(whole)
})

test('after a kill the last second is sent again, nothing is left out', async () => {
  const kept = openKept(file, run)
  kept.keep({ evening: 0, records: 10 })
  // Within the same second, and never closed.
  kept.keep({ evening: 0, records: 20 })
  expect(readKept(file)).toEqual({ run, from: { evening: 0, records: 10 } })
  kept.close()
  expect(readKept(file)?.from.records).toBe(20)
})

test('a run of another revision of the simulation does not go on: it would send other records', () => {
  const kept = openKept(file, run)
  kept.keep({ evening: 0, records: 10 })
  const { revision, ...before } = JSON.parse(readFileSync(file, 'utf8'))
  for (const text of [{ ...before, revision: revision + 1 }, before]) {
    writeFileSync(file, JSON.stringify(text))
    expect(readKept(file)).toBeUndefined()
  }
})

test('without a file there is nothing to go on with; another file is an error that names it', () => {
  expect(readKept(file)).toBeUndefined()
  for (const text of ['', '[]', '{"seed":1}', 'null']) {
    writeFileSync(file, text)
    expect(() => readKept(file)).toThrow(
      `--resume: ${file} is not a file that the feed has written; delete it`,
    )
    expect(readFileSync(file, 'utf8')).toBe(text)
  }
})
