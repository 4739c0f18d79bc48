import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { compress, encodingOf, sendCompressed } from './compression.ts'
import { notFound } from './problem.ts'

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
type Assets = { version: string; files: Map<string, Buffer> }

const folder = join(import.meta.dirname, '../assets')
let read: Assets | undefined

/** The scripts, styles and images of the area, read once per process. Their tests, next to them, are `.ts`. */
function assets(): Assets {
  if (read !== undefined) return read
  const files = new Map<string, Buffer>()
  const hash = createHash('sha256')
  for (const name of readdirSync(folder).sort()) {
    if (types[extname(name)] === undefined) continue
    const bytes = contentOf(join(folder, name))
    files.set(name, bytes)
    hash.update(`${name} ${bytes.length}\n`).update(bytes)
  }
  read = { version: hash.digest('base64url').slice(0, 12), files }
  return read
}

/** A file; of a style sheet with those that it imports in their places, so that a browser asks once for all. */
function contentOf(file: string): Buffer {
  const bytes = readFileSync(file)
  if (extname(file) !== '.css') return bytes
  const imported = (_: string, path: string) => readFileSync(join(dirname(file), path), 'utf8')
  return Buffer.from(bytes.toString().replaceAll(/^@import "(.+)";\n/gm, imported))
}

/**
 * The address of an asset. It changes when any of them does: scripts import each other by relative addresses, so that
 * all of a page are of one version.
 */
export const assetPath = (name: string): string => `/assets/${assets().version}/${name}`

/**
 * Serves the assets, compressed. Browsers keep those of this version for good. Under another version's address, as a
 * page of a process of the version before has it during an upgrade, they are the same, and are not stored.
 */
export function assetFiles(app: FastifyInstance): void {
  const { version, files } = assets()
  const compressed = new Map<string, Buffer>()
  app.get<{ Params: { '*': string } }>('/assets/*', (request, reply) => {
    const [name = '', of] = request.params['*'].split('/').reverse()
    const bytes = files.get(name)
    if (bytes === undefined) throw notFound()
    const encoding = encodingOf(request)
    const key = `${encoding} ${name}`
    const sent = compressed.get(key) ?? compress(encoding, bytes, false)
    compressed.set(key, sent)
    if (of === version) reply.header('Cache-Control', 'public, max-age=31536000, immutable')
    return sendCompressed(reply.type(types[extname(name)] ?? ''), { encoding, bytes: sent })
  })
}
