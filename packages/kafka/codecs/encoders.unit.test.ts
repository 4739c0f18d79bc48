import { expect, test } from 'vitest'
import { fetchOf, readAll } from '../batches/testing.ts'
import { batches, lz4Frames } from './fixtures.ts'
import { lz4 } from './lz4.ts'

const bytesOf = (base64: string) => Buffer.from(base64, 'base64')

test.each(Object.entries(batches))('a batch as %s writes it is read', async (_, base64) => {
  const { records, parts, error } = await readAll(fetchOf(bytesOf(base64)))
  expect(error).toBeUndefined()
  expect(parts).toEqual([{ from: 0, next: 300 }])
  expect(records.map(({ value }) => JSON.parse(String(value)))).toEqual(
    Array.from({ length: 300 }, (_, i) => ({ orderId: `A-${i}`, note: 'x'.repeat((i * 7) % 700) })),
  )
})

const lines = Array.from({ length: 8000 }, (_, i) => `{"orderId":"A-${i % 400}","status":"Paid"}\n`).join('')

test.each(Object.entries(lz4Frames))('an LZ4 frame of liblz4 is read: %s', async (_, base64) => {
  const unpacked = await lz4.unpackAtMost(bytesOf(base64), lines.length)
  expect(unpacked?.toString()).toBe(lines)
})

test('several LZ4 frames of several kinds are read one after the other', async () => {
  const frames = Object.values(lz4Frames).map(bytesOf)
  const unpacked = await lz4.unpackAtMost(Buffer.concat(frames), lines.length * frames.length)
  expect(unpacked?.toString()).toBe(lines.repeat(frames.length))
})
