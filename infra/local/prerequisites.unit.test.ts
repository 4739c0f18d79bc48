import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
// @ts-expect-error a plain script, which runs before TypeScript can
import * as prerequisites from './prerequisites.mjs'

const { missingOf, registryError } = prerequisites as {
  missingOf: (machine: object) => string[]
  registryError: (root: string, npm: string[]) => string | undefined
}

const complete = {
  root: '/tally',
  isInstalled: false,
  env: {},
  platform: 'linux',
  arch: 'x64',
  node: 20,
  isRoot: false,
  hasApt: true,
  java: 17,
  hasJars: false,
  hasMaven: true,
  redis: 7,
  hasDocker: false,
  freeMb: 10_000,
  takenPorts: [],
  registryError: undefined,
}
const missing = (over: object) => missingOf({ ...complete, ...over }).map(line => line.replace(/[:,].*/s, ''))

test('a machine that has everything lacks nothing', () => {
  expect(missing({})).toEqual([])
})

test('all that is missing is named at once, each with what to do', () => {
  const bare = {
    ...complete,
    ...{ node: 18, java: undefined, hasMaven: false, redis: 6, freeMb: 100 },
    takenPorts: [{ name: 'QUERY_PORT', port: 8080 }],
    registryError: 'getaddrinfo ENOTFOUND registry.example',
  }
  expect(missingOf(bare)).toEqual([
    'Node.js 20 or later: this is 18. Install it from https://nodejs.org.',
    'Java 17 or later, for Kafka: install it (Debian: apt-get install default-jre-headless), or start a Docker engine, or set KAFKA_BROKERS to one that runs.',
    'Maven, which fetches Kafka: install it (Debian: apt-get install maven), or start a Docker engine, or set KAFKA_BROKERS to one that runs.',
    'redis-server 7 or later (this is 6): install it (Debian: apt-get install redis-server; as root, npm start does), or start a Docker engine, or set REDIS_URL to one that runs.',
    'Free disk space: 1400 MB in /tally, which has 100 MB.',
    'Port 8080 of QUERY_PORT: something listens on it. End that, or name another port.',
    'The npm registry, for the dependencies: getaddrinfo ENOTFOUND registry.example. Check the network and `npm config get registry`.',
  ])
})

test.each([
  ['Docker runs the servers', { hasDocker: true, java: undefined, hasMaven: false, redis: undefined }],
  ['root on Debian installs Redis', { redis: undefined, isRoot: true }],
  ['Kafka is here already', { hasJars: true, hasMaven: false }],
  [
    'servers from elsewhere',
    { env: { KAFKA_BROKERS: 'k:9092', REDIS_URL: 'redis://r' }, java: undefined, redis: undefined },
  ],
  ['a second start needs room for data only', { isInstalled: true, hasJars: true, freeMb: 400 }],
])('nothing is missing if %s', (_, over) => {
  expect(missing(over)).toEqual([])
})

test('an old Java, a foreign platform and a Node of its own are named', () => {
  expect(missing({ java: 11 })).toEqual(['Java 17 or later'])
  expect(missing({ platform: 'darwin' })).toEqual(['Node.js 24 or later'])
  expect(missing({ platform: 'win32', node: 24 })).toEqual(['Postgres'])
})

test('a registry that refuses the first try is asked a second time', async () => {
  // In a process of its own: this one waits for npm.
  const registry = spawn(process.execPath, ['-e', refusingOnce], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(registry.stdout, 'data')
  const folder = mkdtempSync(join(tmpdir(), 'tally-npm-'))
  vi.stubEnv('npm_config_registry', `http://127.0.0.1:${String(port).trim()}/`)
  vi.stubEnv('npm_config_cache', folder)
  expect(registryError(folder, ['npm'])).toBeUndefined()
  vi.unstubAllEnvs()
  registry.kill()
  rmSync(folder, { recursive: true })
})

const refusingOnce = `
let asked = 0
require('node:http').createServer((request, response) => {
  response.statusCode = asked++ === 0 ? 503 : 200
  const version = { name: 'kafkajs', version: '2.2.4' }
  response.end(JSON.stringify({ name: 'kafkajs', 'dist-tags': { latest: '2.2.4' }, versions: { '2.2.4': version } }))
}).listen(0, '127.0.0.1', function () { console.log(this.address().port) })
`

test('npm start ends before it downloads anything, with all that is missing', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'tally-bare-'))
  mkdirSync(join(checkout, 'infra/local'), { recursive: true })
  for (const file of ['run.mjs', 'prerequisites.mjs'])
    cpSync(join(import.meta.dirname, file), join(checkout, 'infra/local', file))
  // The only program on this machine: an npm without a network, which leaves a trace of what it was asked for.
  const programs = join(checkout, 'bin')
  mkdirSync(programs)
  const npm = join(programs, 'npm')
  writeFileSync(
    npm,
    `#!/bin/sh\necho > "${checkout}/asked-$1"\necho "npm error network is unreachable" >&2\nexit 1\n`,
  )
  chmodSync(npm, 0o755)
  const env = { PATH: programs, QUERY_PORT: '', ADMIN_PORT: '', OPS_PORT: '' }
  const run = spawnSync(process.execPath, [join(checkout, 'infra/local/run.mjs'), 'infra/local/start.ts'], {
    env,
    encoding: 'utf8',
  })
  expect(run.status).toBe(1)
  expect(run.stderr).toContain('nothing was downloaded or installed')
  for (const what of ['Java 17', 'Maven', 'The npm registry, for the dependencies: network is unreachable'])
    expect(run.stderr).toContain(what)
  expect(existsSync(join(checkout, 'asked-view'))).toBe(true)
  expect(existsSync(join(checkout, 'asked-ci'))).toBe(false)
  rmSync(checkout, { recursive: true })
})
