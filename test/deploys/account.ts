import { randomBytes } from 'node:crypto'
import { runTally, startProcess } from '@tally/testkit/processes/process'
import type { Tally } from '@tally/testkit/processes/tally'
import { Secret, TOTP } from 'otpauth'
import { expect } from 'vitest'

const email = 'anna@example.org'
const password = 'un gelato al pistacchio'

/** A browser at an administration area, with its cookies. */
function browserAt(area: string, cookies = new Map<string, string>()) {
  const send = async (path: string, form?: Record<string, string>) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const sent = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    const reply = await fetch(area + path, { ...sent, headers: { cookie }, redirect: 'manual' })
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: reply.status, location: reply.headers.get('location') ?? '', text: await reply.text() }
  }
  const post = async (path: string, fields: Record<string, string>) => {
    const [, _csrf = ''] = /name="_csrf" value="([^"]+)"/.exec((await send(path)).text) ?? []
    return send(path, { _csrf, ...fields })
  }
  return { cookies, get: (path: string) => send(path), post }
}

/** An administrator whom the previous version made, and who has set up a second factor there. */
export async function accountOf(previous: string, { settings }: Tally, organizationId: string) {
  const key = { ADMIN_SECRET_KEY: randomBytes(32).toString('hex') }
  const create = ['administrators', 'create', '--organization', organizationId, '--email', email]
  expect(await runTally(create, settings, `${password}\n`, previous)).toMatchObject({ code: 0 })
  const process = startProcess(['admin'], { ...settings, ...key }, previous)
  const { address = '' } = await process.line(({ msg }) => msg === 'admin started')
  const browser = browserAt(address)
  await browser.post('/sign-in', { email, password })
  const page = '/account/second-factor'
  const [, shown = ''] = /Secret: <code>([A-Z2-7 ]+)</.exec((await browser.get(page)).text) ?? []
  const app = new TOTP({ secret: Secret.fromBase32(shown.replaceAll(' ', '')) })
  const { text } = await browser.post(page, { code: app.generate({ timestamp: Date.now() - 30_000 }) })
  const codes = [...text.matchAll(/<li><code>([\w-]+)<\/code>/g)].map(([, code = '']) => code)
  expect(codes).toHaveLength(10)
  expect(await process.end('SIGTERM')).toBe(0)
  return { key, app, recovery: codes[0] ?? '', cookies: browser.cookies }
}

/** Password, app, recovery codes and session are as before the upgrade. */
export async function expectKept(account: Awaited<ReturnType<typeof accountOf>>, tally: Tally) {
  const { address } = await tally.startAdmin(account.key)
  const before = await browserAt(address, account.cookies).get('/account')
  expect([before.status, before.text.includes('10 recovery codes left')]).toEqual([200, true])
  for (const code of [account.app.generate(), account.recovery]) {
    const browser = browserAt(address)
    const wrong = await browser.post('/sign-in', { email, password: 'another one' })
    const right = await browser.post('/sign-in', { email, password })
    expect([wrong.status, right.location]).toEqual([401, '/sign-in/code?next=%2F'])
    expect((await browser.post('/sign-in/code', { code })).status).toBe(303)
    expect((await browser.get('/account')).status).toBe(200)
  }
}
