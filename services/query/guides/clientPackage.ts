import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { gzipSync } from 'node:zlib'

const client = new URL('../../../packages/client/', import.meta.url)

/** `@tally/client` as one module, without its types. Takes Node 0.1 s. */
export function clientFile(name = 'index.ts', seen = new Set<string>()): string {
  if (seen.has(name)) return ''
  seen.add(name)
  const code = stripTypeScriptTypes(readFileSync(new URL(name, client), 'utf8'))
  const needed = [...code.matchAll(/^(?:import|export) .+ from '\.\/(.+)'$/gm)]
  const own = code
    .replaceAll(/^import .+\n|^export (?!\{)| from '.+'$/gm, '')
    .replaceAll(/(?<=\S) {2,}/g, ' ')
    .replaceAll(/^\s*\n| +$/gm, '')
  return needed.map(([, other = '']) => clientFile(other, seen)).join('') + own
}

/**
 * `@tally/client` as npm packs it: one module without types, and its sources as its types. The same bytes for the same
 * sources, because npm's lock file keeps their hash.
 */
export function clientPackage(): Buffer {
  const sources = readdirSync(client)
    .filter(name => /^(?!generate)\w+\.ts$/.test(name))
    .toSorted()
  const read = (name: string) => readFileSync(new URL(name, client), 'utf8')
  const { name, version, description, license, engines } = JSON.parse(read('package.json'))
  const manifest = {
    ...{ name, version, description, license, engines },
    type: 'module',
    exports: { '.': { types: './types/index.ts', default: './index.js' } },
  }
  // TypeScript resolves `./x.js` to `x.ts`, and refuses `./x.ts` unless a project allows it.
  const typesOf = (source: string) => read(source).replaceAll(/ from '(\.\/.+)\.ts'/g, " from '$1.js'")
  const files: [string, string][] = [
    ['package.json', JSON.stringify(manifest)],
    ['index.js', clientFile()],
    ...sources.map((source): [string, string] => [`types/${source}`, typesOf(source)]),
  ]
  const archive = Buffer.concat([
    ...files.flatMap(([name, text]) => entryOf(name, text)),
    Buffer.alloc(1_024),
  ])
  return gzipSync(archive)
}

/** A file of a tar archive (POSIX ustar): 512 bytes that describe it, then its text in blocks of as many. */
function entryOf(name: string, text: string): Buffer[] {
  const head = Buffer.alloc(512)
  const data = Buffer.from(text)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  const fields: [number, string][] = [
    [0, `package/${name}`],
    [100, octal(0o644, 7)],
    [124, octal(data.length, 11)],
    // The checksum's own field counts as blanks.
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\0' + '00'],
  ]
  for (const [at, value] of fields) head.write(value, at)
  head.write(
    octal(
      head.reduce((sum, byte) => sum + byte, 0),
      6,
    ),
    148,
  )
  return [head, data, Buffer.alloc(-data.length & 511)]
}
