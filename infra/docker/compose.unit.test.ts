import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
const dockerfile = readFileSync(join(import.meta.dirname, 'Dockerfile'), 'utf8')
const images = linesOf(readFileSync(join(import.meta.dirname, 'images.env'), 'utf8'))

function linesOf(env: string): Map<string, string> {
  const lines = env.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(lines.map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}

/** `${A:-http://…${B:-8080}}`: Compose 1.29 ends the default at the first brace, and the area does not start. */
const nested = /\$\{[^}]*\$\{/

test('no default in docker-compose.yml holds another one', () => {
  expect(compose.split('\n').filter(line => nested.test(line))).toEqual([])
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of Compose
  expect(nested.test("ADMIN_API_URL: '${ADMIN_API_URL:-http://localhost:${QUERY_PORT:-8080}}'")).toBe(true)
})

test('every image is a variable, and images.env names it by digest at the version of its default', () => {
  const named = [...compose.matchAll(/^ +image: (.*)$/gm)].map(([, image]) => image)
  const fixed = named.filter(image => image !== 'tally' && !/^\$\{\w+_IMAGE:-/.test(image ?? ''))
  expect(fixed).toEqual([])
  expect(dockerfile.match(/^FROM (?!\$\{NODE_IMAGE\})/m)).toBeNull()
  const defaults = new Map(
    [...compose.matchAll(/\$\{(\w+_IMAGE):-([^}]+)\}/g)].map(([, name = '', tag = '']) => [name, tag]),
  )
  expect([...images.keys()].toSorted()).toEqual([...defaults.keys()].toSorted())
  for (const [name, tag] of defaults) {
    const digest = /^(PROMETHEUS|GRAFANA)_/.test(name) ? /(@sha256:[0-9a-f]{64})?$/ : /@sha256:[0-9a-f]{64}$/
    expect(images.get(name)?.slice(tag.length)).toMatch(digest)
    expect(images.get(name)?.split('@')[0]).toBe(tag)
  }
})

test('only the services postgres and roles have the superuser, and every container drops its capabilities', () => {
  const { services } = parse(compose, { merge: true })
  const having = (text: string) =>
    Object.keys(services).filter(name => JSON.stringify(services[name]).includes(text))
  expect(having('{POSTGRES_PASSWORD')).toEqual(['postgres', 'roles'])
  expect(having('postgres://tally:')).toEqual([])
  for (const service of ['projector', 'query', 'admin']) {
    const name = `POSTGRES_${service.toUpperCase()}_PASSWORD`
    expect(having(`{${name}`)).toEqual(['roles', service])
    expect(services[service].environment.DATABASE_URL).toContain(`//tally_${service}:\${${name}`)
  }
  expect(having('{POSTGRES_OWNER_PASSWORD')).toEqual(['roles', 'migrate'])
  for (const [name, { cap_drop }] of Object.entries<{ cap_drop?: string[] }>(services))
    expect(cap_drop, name).toEqual(['ALL'])
})

test('the profile monitoring scrapes each service at its port, and mounts files that exist', () => {
  const { services } = parse(compose, { merge: true })
  const inProfile = Object.keys(services).filter(name => services[name].profiles?.includes('monitoring'))
  expect(inProfile).toEqual(['prometheus', 'grafana'])
  const mounts: string[] = inProfile.flatMap(name => services[name].volumes)
  const files = mounts.flatMap(mount => mount.match(/^\.\/[^:]+/) ?? [])
  expect(files.length).toBe(5)
  for (const file of files) expect(existsSync(join(root, file)), file).toBe(true)
  const config = parse(readFileSync(join(root, 'infra/monitoring/prometheus.yaml'), 'utf8'))
  const scraped: { names: string[]; port: number }[] = config.scrape_configs[0].dns_sd_configs
  for (const { names, port } of scraped)
    expect(services[names[0] ?? ''].healthcheck.test.join(' ')).toContain(`:${port}/readyz`)
  expect(scraped.flatMap(({ names }) => names)).toEqual(['projector', 'query', 'admin'])
})

/** Runs infra/docker/up with a docker that has only the images of these tags; returns what .env names afterwards. */
const up = (given: { has: string[]; env?: string }): Map<string, string> => linesOf(envAfterUp(given))

function envAfterUp({ has, env = '' }: { has: string[]; env?: string }): string {
  const folder = mkdtempSync(join(tmpdir(), 'tally-up-'))
  try {
    mkdirSync(join(folder, 'infra'))
    cpSync(import.meta.dirname, join(folder, 'infra/docker'), { recursive: true })
    writeFileSync(join(folder, '.env'), env)
    const docker = `#!/bin/sh\ncase "$1 $3" in ${has.map(tag => `"image ${tag}"`).join('|') || 'none'}) ;; image*) exit 1 ;; esac\n`
    writeFileSync(join(folder, 'docker'), docker)
    chmodSync(join(folder, 'docker'), 0o755)
    execFileSync(join(folder, 'infra/docker/up'), {
      env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
    })
    return readFileSync(join(folder, '.env'), 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('infra/docker/up makes passwords that are missing, each its own, and keeps those of an earlier version', () => {
  const names = [...compose.matchAll(/\$\{(\w+_PASSWORD):/g)].map(([, name = '']) => name)
  const made = up({ has: [], env: 'POSTGRES_PASSWORD=old\n' })
  const passwords = [...new Set(names)].map(name => made.get(name))
  expect(passwords.filter(password => password === 'old')).toEqual(['old'])
  expect(passwords.filter(password => /^[0-9a-f]{64}$/.test(password ?? '')).length).toBe(
    passwords.length - 1,
  )
  expect(new Set(passwords).size).toBe(passwords.length)
})

test('infra/docker/up names images by digest, but keeps those that .env names or that the engine has', () => {
  const named = (env: Map<string, string>) => new Map([...env].filter(([name]) => name.endsWith('_IMAGE')))
  expect(named(up({ has: [] }))).toEqual(images)
  expect([...named(up({ has: ['node:24-slim', 'redis:8'] })).keys()]).toEqual([
    'KAFKA_IMAGE',
    'POSTGRES_IMAGE',
    'PROMETHEUS_IMAGE',
    'GRAFANA_IMAGE',
  ])
  expect(up({ has: [], env: 'REDIS_IMAGE=mirror/redis:8\n' }).get('REDIS_IMAGE')).toBe('mirror/redis:8')
})

test.for([
  'ADMIN_URL=https://a.example',
  'POSTGRES_PASSWORD=old',
  'POSTGRES_PASSWORD=old\r\nADMIN_URL=https://a.example\r\n',
  'POSTGRES_PASSWORD="old"\n',
  "POSTGRES_PASSWORD='old' # ours\n",
  'export POSTGRES_PASSWORD=old\n',
  '  POSTGRES_PASSWORD = old\n',
  'POSTGRES_PASSWORD: old\n',
  '\ufeffPOSTGRES_PASSWORD=old\n',
  'POSTGRES_PASSWORD=\nPOSTGRES_PASSWORD=old\n',
])('infra/docker/up leaves the lines of .env as they are, and adds lines of its own: %j', env => {
  const after = envAfterUp({ has: [], env })
  expect(after.startsWith(env.endsWith('\n') ? env : `${env}\n`)).toBe(true)
  const added = after.slice(env.length).match(/^POSTGRES_PASSWORD=[0-9a-f]{64}$/gm) ?? []
  expect(added.length).toBe(env.includes('old') ? 0 : 1)
  expect(after).toMatch(/^REDIS_PASSWORD=[0-9a-f]{64}$/m)
  expect(after).toMatch(/^ADMIN_SECRET_KEY=[0-9a-f]{64}$/m)
})

test.for([
  '',
  'POSTGRES_PASSWORD=',
  'POSTGRES_PASSWORD=\r\n',
  'POSTGRES_PASSWORD=""\n',
  "export POSTGRES_PASSWORD='' # to do\n",
  'POSTGRES_PASSWORD=old\nPOSTGRES_PASSWORD= # to do\n',
  '#POSTGRES_PASSWORD=old\n',
  'MY_POSTGRES_PASSWORD=old\n',
])('infra/docker/up makes a password if .env has none: %j', env => {
  expect(envAfterUp({ has: [], env }).match(/^POSTGRES_PASSWORD=[0-9a-f]{64}$/gm)).toHaveLength(1)
})
