import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAdministrator, hashPassword } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import { useTally } from '@tally/testkit/processes/tally'
import { visitorAt } from '@tally/testkit/processes/visitor'
import { newFestival } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { pythonPrograms } from '#infra/install/pythonPackages.ts'
import { freePort } from '#infra/servers/ports.ts'
import { scanFolder } from './scanFolder.ts'

type Report = { vulnerabilities: Record<string, { method: string; path: string; info: string }[]> }

const tally = useTally()
const festival = newFestival()

test('crawls the administration area signed in and attacks each form and parameter', async () => {
  await tally.count([festival.organization(), festival.event(), festival.order()])
  const who = { email: 'anna@example.org', password: 'a long enough password' }
  await createAdministrator(tally.database.db, {
    email: who.email,
    organizationId: festival.organizationId as OrganizationId,
    isPlatform: true,
    passwordHash: await hashPassword(who.password),
  })
  const port = String(await freePort())
  // Behind a proxy with TLS, as it is meant to run: cookies are for TLS only.
  const { address } = await tally.startAdmin({ ADMIN_PORT: port, ADMIN_URL: `https://127.0.0.1:${port}` })
  const visitor = visitorAt(address)
  await visitor.post('/sign-in', who)
  expect(visitor.cookie()).toContain('tally_session_')

  const folder = scanFolder()
  const report = join(folder, 'wapiti.json')
  const where = ['--url', `${address}/`, '--scope', 'domain', '--exclude', `${address}/sign-out`]
  const how = ['--module', 'common,crlf,csrf,http_headers,cookieflags,methods', '--level', '1']
  const limits = ['--max-scan-time', '90', '--max-attack-time', '15']
  const result = ['--store-session', folder, '--flush-session', '--format', 'json', '--output', report]
  const args = [...where, ...how, ...limits, ...result, '--header', `Cookie: ${visitor.cookie()}`]
  const program = await pythonPrograms(['wapiti3==3.2.3'], console.error)
  await run(program('wapiti'), [...args, '--no-bugreport'], { cwd: folder, errorLines: 50 })
  const { vulnerabilities } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const found = Object.entries(vulnerabilities).flatMap(([kind, found]) =>
    found.map(({ method, path, info }) => `${kind}: ${method} ${path}: ${info}`),
  )
  expect(found).toEqual([])
})
