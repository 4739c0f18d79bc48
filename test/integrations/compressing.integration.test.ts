import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask } from '@tally/testkit/processes/http'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { programPath } from '#infra/install/programs.ts'
import { freePort } from '#infra/servers/ports.ts'
import { type Cache, nginxSettings, start } from './caches.ts'
import { log } from './programs.ts'

/** Proxies that compress what Tally answers. Apache appends to the entity tag, nginx and HAProxy make it weak. */
const tally = useTally()
const festival = newFestival()
const folder = mkdtempSync(join(tmpdir(), 'tally-compressing-'))
const running: Cache[] = []
const path = `${festival.path}/live/item-counts`
const neededBy = 'the tests of proxies that compress'
let token: string

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event(), festival.order()])
  token = await tally.key(festival.organizationId)
})
afterAll(async () => {
  for (const { stop } of running) await stop()
  rmSync(folder, { recursive: true, force: true })
})

type Proxy = { names: string[]; debianPackage: string; settings: string; args: string[] }
const proxyOf = {
  apache: (listen: string, backend: string, filter: string): Proxy => ({
    names: ['apache2'],
    debianPackage: 'apache2',
    args: ['-D', 'FOREGROUND', '-d', folder, '-f'],
    settings: `
ServerName localhost
Listen ${listen}
PidFile ${folder}/apache.pid
ErrorLog /dev/stderr
${process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''}
${['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'filter', 'deflate', 'brotli']
  .map(name => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`)
  .join('\n')}
ProxyPass / http://${backend}/
AddOutputFilterByType ${filter} application/json`,
  }),
  nginx: (listen: string, backend: string, filter: string): Proxy => ({
    names: ['nginx'],
    debianPackage: 'nginx',
    args: ['-e', 'stderr', '-p', folder, '-c'],
    settings: nginxSettings(
      folder,
      `${filter} on; gzip_types application/json; gzip_min_length 1; gzip_proxied any;
      server { listen ${listen}; location / { proxy_pass http://${backend}; } }`,
    ),
  }),
  haproxy: (listen: string, backend: string, filter: string): Proxy => ({
    names: ['haproxy'],
    debianPackage: 'haproxy',
    args: ['-db', '-f'],
    settings: `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
listen tally
  bind ${listen}
  filter compression
  compression algo ${filter}
  compression type application/json
  server one ${backend}
`,
  }),
}

test.for([
  { name: 'apache', filter: 'DEFLATE', encoding: 'gzip', appended: '-gzip' },
  { name: 'apache', filter: 'BROTLI_COMPRESS', encoding: 'br', appended: '-br' },
  { name: 'nginx', filter: 'gzip', encoding: 'gzip', appended: '' },
  { name: 'haproxy', filter: 'gzip', encoding: 'gzip', appended: '' },
] as const)('a poll through $name with $filter gets 304', async ({ name, filter, encoding, appended }) => {
  const listen = `127.0.0.1:${await freePort()}`
  const file = join(folder, `${name}-${filter}.conf`)
  mkdirSync(folder, { recursive: true })
  const backend = new URL(tally.queries[0]?.address ?? '').host
  const { settings, args, names, debianPackage } = proxyOf[name](listen, backend, filter)
  writeFileSync(file, `${settings}\n`)
  const command = await programPath({ names, debianPackage, neededBy }, log)
  const { address, stop } = await start(name, { command, args: [...args, file] }, listen, folder)
  running.push({ address, stop })

  const first = await ask(address, path, { token, headers: { 'Accept-Encoding': encoding } })
  expect(first).toMatchObject({ status: 200, headers: { 'content-encoding': encoding } })
  const etag = String(first.headers.etag)
  expect(etag).toMatch(new RegExp(`^W/"[\\w-]{27}${appended}"$`))
  const headers = { 'Accept-Encoding': encoding, 'If-None-Match': etag }
  const second = await ask(address, path, { token, headers })
  expect(second).toMatchObject({ status: 304, text: '' })
  await stop()
})
