import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Codec } from './codec.ts'
import { codecs } from './codecs.ts'
import { packers, snappyjs } from './testing.ts'

const json = Buffer.from(
  JSON.stringify(Array.from({ length: 9_000 }, (_, i) => ({ orderId: `A-${i}`, status: 'Paid' }))),
)
const all = [...codecs].map(([number, codec]) => {
  const pack = packers[number] as (bytes: Buffer) => Buffer
  return { name: ['', 'gzip', 'snappy', 'lz4', 'zstd'][number], codec, pack }
})

async function unpackAll(codec: Codec, packed: Buffer): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of codec.unpack(packed)) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

const inputs: [string, Buffer][] = [
  ['one byte', Buffer.from('x')],
  ['bytes that do not compress', randomBytes(200_000)],
  ['bytes that compress well', Buffer.alloc(3_000_000, 'abc')],
  ['records', json],
  ['a mixture', Buffer.concat([json, randomBytes(70_000), json, Buffer.alloc(100_000)])],
]

describe.each(all)('$name', ({ codec, pack }) => {
  test.each(inputs)('gives back %s', async (_, bytes) => {
    const packed = pack(bytes)
    expect((await codec.unpackAtMost(packed, bytes.length))?.equals(bytes)).toBe(true)
    if (bytes.length > 1) expect(await codec.unpackAtMost(packed, bytes.length - 1)).toBeUndefined()
    expect((await unpackAll(codec, packed)).equals(bytes)).toBe(true)
  })
})

test('Snappy is read without the frame of the Java client, too', async () => {
  expect((await unpackAll(codecs.get(2) as Codec, snappyjs.compress(json))).equals(json)).toBe(true)
})

test.each(all)('several frames of $name are read one after the other', async ({ codec, pack }) => {
  const frames = [json, Buffer.from('x'), Buffer.alloc(300_000, 'abc')]
  const packed = Buffer.concat(frames.map(pack))
  const whole = Buffer.concat(frames)
  expect((await codec.unpackAtMost(packed, whole.length))?.equals(whole)).toBe(true)
  expect((await unpackAll(codec, packed)).equals(whole)).toBe(true)
})

test.each(all)('$name that is cut off anywhere is an error, not fewer records', async ({ codec, pack }) => {
  const packed = pack(json)
  for (const cut of [1, 3, 5, 9, Math.floor(packed.length / 2), packed.length - 3]) {
    const rest = packed.subarray(0, packed.length - cut)
    await expect((async () => codec.unpackAtMost(rest, json.length))()).rejects.toThrow()
    await expect(unpackAll(codec, rest)).rejects.toThrow()
  }
})
