import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Builds the API as a process does before it listens, and names what Node has loaded. */
const script = `
const { buildApp } = await import('./app.ts')
const counters = new Proxy(() => counters, { get: (_, name) => (name === Symbol.toPrimitive ? () => 0 : counters) })
await buildApp({ readers: {} }, { edition: 'cloud', corsOrigins: [], maxConnections: 9, idleTimeoutMs: 72e3, metrics: counters, counts: counters })
  .then(({ app }) => app.ready())
const { createRequire } = process.getBuiltinModule('node:module')
console.log([...process.moduleLoadList, ...Object.keys(createRequire(import.meta.filename).cache)].join('\\n'))
process.exit()`

test('a process loads what only a later request needs after it is ready', () => {
  const options = { cwd: import.meta.dirname, encoding: 'utf8', env: {} } as const
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], options).split('\n')
  expect(loaded.length).toBeGreaterThan(300)
  // Each takes 25 to 60 ms of a start of about 600.
  const late = /undici|@fastify\/ajv-compiler|fast-json-stringify-compiler/
  expect(loaded.filter(name => late.test(name))).toEqual([])
})
