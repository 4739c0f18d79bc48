import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { assetFiles, assetPath } from './assets.ts'

const app = fastify()
assetFiles(app)
const get = (url: string, encodings = '') => app.inject({ url, headers: { 'accept-encoding': encodings } })

test('each style sheet of the area is part of one asset', async () => {
  const sent = (await get('/assets/style.css')).body + (await get('/assets/screen.css')).body
  const sheets = globSync(join(import.meta.dirname, '../!(assets)/*.css'))
  const parts = sheets.map(sheet => sent.split(readFileSync(sheet, 'utf8')).length - 1)
  expect(Object.groupBy(sheets, (_, index) => String(parts[index]))).toEqual({ 1: sheets })
})

test('an asset is kept for good under the address of its version, and under no other', async () => {
  const kept = await get(assetPath('style.css'))
  expect(kept.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  for (const path of ['/assets/style.css', '/assets/older/style.css']) {
    const other = await get(path)
    expect([other.statusCode, other.body === kept.body]).toEqual([200, true])
    expect(other.headers['cache-control']).toBeUndefined()
  }
})

test.each([
  ['gzip, deflate, br', 'br', brotliDecompressSync],
  ['gzip;q=1.0, br;q=0', 'gzip', gunzipSync],
  ['br; q=0.000, deflate', undefined, (bytes: Buffer) => bytes],
])('a client that takes %s gets %s', async (encodings, encoding, decompress) => {
  const plain = await get(assetPath('style.css'))
  const sent = await get(assetPath('style.css'), encodings)
  expect(sent.headers).toMatchObject({ vary: 'Accept-Encoding', 'content-type': 'text/css; charset=utf-8' })
  expect(sent.headers['content-encoding']).toBe(encoding)
  expect(decompress(sent.rawPayload).toString()).toBe(plain.body)
})

test.each(['none.js', 'slot.unit.test.ts', '..%2fapp.ts', 'constructor', ''])(
  '%s is not an asset',
  async name => {
    expect((await get(`/assets/${name}`)).statusCode).toBe(404)
  },
)
