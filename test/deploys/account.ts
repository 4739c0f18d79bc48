import { randomBytes } from 'node:crypto'
import { runTally, startProcess } from '@tally/testkit/processes/process'
import type { Tally } from '@tally/testkit/processes/tally'
import { visitorAt } from '@tally/testkit/processes/visitor'
import { Secret, TOTP } from 'otpauth'
import { expect } from 'vitest'

const email = 'anna@example.org'
const password = 'un gelato al pistacchio'

/** An administrator whom the previous version made, and who has set up a second factor there. */
export async function accountOf(previous: string, { settings }: Tally, organizationId: string) {
  const key = { ADMIN_SECRET_KEY: randomBytes(32).toString('hex') }
  const create = ['administrators', 'create', '--organization', organizationId, '--email', email]
  expect(await runTally(create, settings, `${password}\n`, previous)).toMatchObject({ code: 0 })
  const process = startProcess(['admin'], { ...settings, ...key }, previous)
  const { address } = await process.started()
  const visitor = visitorAt(address)
  await visitor.post('/sign-in', { email, password })
  const page = '/account/second-factor'
  const [, shown = ''] = /Secret: <code>([A-Z2-7 ]+)</.exec((await visitor.get(page)).text) ?? []
  const app = new TOTP({ secret: Secret.fromBase32(shown.replaceAll(' ', '')) })
  const { text } = await visitor.post(page, { code: app.generate() })
  const codes = [...text.matchAll(/<li><code>([\w-]+)<\/code>/g)].map(([, code = '']) => code)
  expect(codes).toHaveLength(10)
  expect(await process.end('SIGTERM')).toBe(0)
  return { key, app, recovery: codes[0] ?? '', cookies: visitor.cookies }
}

/** Password, app, recovery codes and session are as before the upgrade. */
export async function expectKept(account: Awaited<ReturnType<typeof accountOf>>, tally: Tally) {
  const { address } = await tally.startAdmin(account.key)
  const before = await visitorAt(address, account.cookies).get('/account')
  expect([before.status, before.text.includes('10 recovery codes left')]).toEqual([200, true])
  // A code counts once: that of the next half minute is not the one before, however little time has passed.
  const later = account.app.generate({ timestamp: Date.now() + 30_000 })
  for (const code of [later, account.recovery]) {
    const visitor = visitorAt(address)
    const wrong = await visitor.post('/sign-in', { email, password: 'another one' })
    const right = await visitor.post('/sign-in', { email, password })
    expect([wrong.status, right.location]).toEqual([401, '/sign-in/code?next=%2F'])
    expect((await visitor.post('/sign-in/code', { code })).status).toBe(303)
    expect((await visitor.get('/account')).status).toBe(200)
  }
}
