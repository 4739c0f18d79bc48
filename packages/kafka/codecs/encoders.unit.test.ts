import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fetchOf, readAll } from '../batches/testing.ts'
import { lz4 } from './lz4.ts'

const folder = join(import.meta.dirname, 'fixtures')
const fixture = (name: string) => readFileSync(join(folder, name))
const fixtures = (extension: string) => readdirSync(folder).filter(name => name.endsWith(extension))
const batches = fixtures('.batch')
const frames = fixtures('.lz4')

test('each codec of both encoders, and each kind of frame, is there', () => {
  expect([batches.length, frames.length]).toEqual([8, 3])
})

test.each(batches)('a batch of another encoder is read: %s', async name => {
  const { records, parts, error } = await readAll(fetchOf(fixture(name)))
  expect(error).toBeUndefined()
  expect(parts).toEqual([{ from: 0, next: 300 }])
  expect(records.map(({ value }) => JSON.parse(String(value)))).toEqual(
    Array.from({ length: 300 }, (_, i) => ({ orderId: `A-${i}`, note: 'x'.repeat((i * 7) % 700) })),
  )
})

const lines = Array.from({ length: 8000 }, (_, i) => `{"orderId":"A-${i % 400}","status":"Paid"}\n`).join('')

test.each(frames)('an LZ4 frame of liblz4 is read: %s', async name => {
  const unpacked = await lz4.unpackAtMost(fixture(name), lines.length)
  expect(unpacked?.toString()).toBe(lines)
})

test('several LZ4 frames of several kinds are read one after the other', async () => {
  const all = Buffer.concat(frames.map(fixture))
  const unpacked = await lz4.unpackAtMost(all, lines.length * frames.length)
  expect(unpacked?.toString()).toBe(lines.repeat(frames.length))
})
