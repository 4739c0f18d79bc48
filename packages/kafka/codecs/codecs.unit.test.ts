import { randomBytes } from 'node:crypto'
import snappyjs from 'snappyjs'
import { describe, expect, test } from 'vitest'
import { lz4 } from './lz4.ts'
import { snappy } from './snappy.ts'
import { zstd } from './zstd.ts'

const json = Buffer.from(
  JSON.stringify(Array.from({ length: 9_000 }, (_, i) => ({ orderId: `A-${i}`, status: 'Paid' }))),
)
const inputs: [string, Buffer][] = [
  ['one byte', Buffer.from('x')],
  ['bytes that do not compress', randomBytes(200_000)],
  ['bytes that compress well', Buffer.alloc(3_000_000, 'abc')],
  ['records', json],
  ['a mixture', Buffer.concat([json, randomBytes(70_000), json, Buffer.alloc(100_000)])],
]

describe.each([['lz4', lz4] as const, ['snappy', snappy] as const, ['zstd', zstd] as const])(
  '%s',
  (_, codec) => {
    test.each(inputs)('gives back %s', (_, bytes) => {
      expect(codec.decompress(codec.compress(bytes)).equals(bytes)).toBe(true)
    })
  },
)

test('Snappy is read without the frame of the Java client, too', () => {
  expect(snappy.decompress(snappyjs.compress(json)).equals(json)).toBe(true)
})

test('a Snappy block that was cut off is an error, not fewer records', () => {
  const packed = snappy.compress(json)
  expect(() => snappy.decompress(packed.subarray(0, packed.length - 5))).toThrow('ends behind its batch')
})
