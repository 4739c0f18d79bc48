import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'

/** docs/security.md, Container and Supply chain. */
const root = join(import.meta.dirname, '../..')
const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
const dockerfile = readFileSync(join(root, 'infra/docker/Dockerfile'), 'utf8')

/** Each service's own lines, and those of the blocks that it merges. */
function servicesOf(text: string): [string, string][] {
  const blocks = new Map(
    [...text.matchAll(/^x-\w+: &(\w+)\n((?: .*\n|\n)+)/gm)].map(([, name, body]) => [name, body]),
  )
  const merged = (body: string): string =>
    body.replaceAll(/<<: \*(\w+)/g, (_, name: string) => merged(blocks.get(name) ?? ''))
  const [, services = ''] = /^services:\n((?: .*\n|\n)+)/m.exec(text) ?? []
  return [...services.matchAll(/^ {2}(\w[\w-]*):\n((?: {4}.*\n|\n)+)/gm)].map(([, name = '', body = '']) => [
    name,
    merged(body),
  ])
}

test('every container has limits of memory, processes and log size, and gains no privileges', () => {
  const services = servicesOf(compose)
  expect(services.map(([name]) => name)).toContain('projector')
  expect(services.length).toBeGreaterThanOrEqual(9)
  for (const [name, body] of services)
    for (const limit of [
      /mem_limit: /,
      /memswap_limit: /,
      /pids_limit: /,
      /max-size: /,
      /no-new-privileges:true/,
    ])
      expect([name, body]).toEqual([name, expect.stringMatching(limit)])
})

test('no password and no key has a default', () => {
  const secrets = [...compose.matchAll(/\$\{(\w*(?:PASSWORD|SECRET)\w*)([^}]*)\}/g)]
  expect(secrets.length).toBeGreaterThan(4)
  for (const [text, , fallback] of secrets)
    expect([text, fallback]).toEqual([text, expect.stringMatching(/^(:\?.*|:-)$/)])
})

test('every base image is a variable, so that a release can name it by digest', () => {
  for (const [, image] of compose.matchAll(/^ +image: (.+)$/gm))
    expect(image).toMatch(/^(tally|\$\{\w+_IMAGE:-[^}]+\})$/)
  for (const [, image] of dockerfile.matchAll(/^FROM (\S+)/gm)) expect(image).toMatch(/^\$\{NODE_IMAGE\}$/)
})

const folder = mkdtempSync(join(tmpdir(), 'tally-docker-'))
afterAll(() => rmSync(folder, { recursive: true }))
const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
const run = (program: string, ...args: string[]) =>
  spawnSync(join(folder, 'infra/docker', program), args, { env, encoding: 'utf8' })
const written = () => readFileSync(join(folder, '.env'), 'utf8').trimEnd().split('\n')
/** A checkout's scripts with a `docker` that says `answer`. */
function withDocker(answer: string) {
  rmSync(join(folder, '.env'), { force: true })
  mkdirSync(join(folder, 'bin'), { recursive: true })
  for (const program of ['up', 'pin'])
    cpSync(join(root, 'infra/docker', program), join(folder, 'infra/docker', program))
  writeFileSync(join(folder, 'bin/docker'), `#!/bin/sh\n${answer}\n`, { mode: 0o755 })
}

beforeEach(() => withDocker(`echo sha256:${'a'.repeat(64)}`))

test('the first start makes passwords and a key that only their owner reads, and a later one keeps them', () => {
  expect(run('up').status).toBe(0)
  const first = written()
  for (const line of first)
    expect(line).toMatch(/^(POSTGRES_PASSWORD|REDIS_PASSWORD|ADMIN_SECRET_KEY)=[0-9a-f]{64}$/)
  expect(new Set(first.map(line => line.split('=')[1])).size).toBe(3)
  expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600)
  run('up')
  expect(written()).toEqual(first)
})

test('pin names each base image by digest, keeps the rest of .env, and is checked', () => {
  expect(run('pin', '--check')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('NODE_IMAGE is not'),
  })
  run('up')
  const before = written()
  expect(run('pin').status).toBe(0)
  const digest = `@sha256:${'a'.repeat(64)}`
  expect(written()).toEqual([
    ...before,
    `NODE_IMAGE=node:24-slim${digest}`,
    `KAFKA_IMAGE=apache/kafka:4.3.1${digest}`,
    `REDIS_IMAGE=redis:8${digest}`,
    `POSTGRES_IMAGE=postgres:18${digest}`,
  ])
  expect(run('pin', '--check').status).toBe(0)
})

test('pin fails if the registry does not say a digest', () => {
  withDocker('exit 1')
  expect(run('pin').status).not.toBe(0)
  withDocker('echo latest')
  expect(run('pin').status).toBe(1)
})
