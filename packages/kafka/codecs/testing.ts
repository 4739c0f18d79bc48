import { createRequire } from 'node:module'
import { gzipSync, zstdCompressSync } from 'node:zlib'

const require = createRequire(import.meta.url)
const lz4js: { compress(bytes: Buffer): Uint8Array } = require('lz4js')
export const snappyjs: { compress(bytes: Buffer): Buffer } = require('snappyjs')

/** Blocks of Snappy in the frame of the Java client (see snappy.ts). */
function packSnappy(bytes: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from(`82534e4150505900${'00000001'.repeat(2)}`, 'hex')]
  for (let at = 0; at < bytes.length; at += 32 * 1024) {
    const block = snappyjs.compress(bytes.subarray(at, at + 32 * 1024))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(block.length)
    parts.push(length, block)
  }
  return Buffer.concat(parts)
}

/** What packs for each codec, by its number in a batch's attributes. */
export const packers: Record<number, (bytes: Buffer) => Buffer> = {
  1: bytes => gzipSync(bytes),
  2: packSnappy,
  3: bytes => Buffer.from(lz4js.compress(bytes)),
  4: bytes => zstdCompressSync(bytes),
}
