import { text } from 'node:stream/consumers'
import { tally as command } from '@tally/testkit/processes/command'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { expectAccessible } from './accessible.ts'
import { copyFirst, enterPassword, follow, picture, signIn, useFixture, visit } from './fixture.ts'

const festival = newFestival()
const fixture = useFixture(async fixture => {
  await fixture.tally.count([festival.organization(), festival.event(), festival.order()])
})

const next = 'un altro gelato alla fragola'

test('a reset link sets a new password, with which one signs in, and works once', async () => {
  const email = await fixture.administrator(festival.organizationId)
  const { page, wrongs } = await visit(fixture)
  const settings = { ...fixture.tally.settings, ADMIN_URL: fixture.area }
  const { stdout } = await command(['administrators', 'reset', '--email', email], settings)
  const link = stdout.trim()
  await page.goto(link)
  await page.getByLabel('New password').fill('password1234')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByRole('alert').getByText('too easy to guess').waitFor()
  await expectAccessible(page)
  await page.getByLabel('New password').fill(next)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Password set. Sign in with it.').waitFor()
  await expectAccessible(page)
  await signIn(page, email, next)
  // The hash of a new password is what a process of the area makes, with its real cost.
  const { password_hash } = await fixture.tally.database.db
    .selectFrom('administrators')
    .select('password_hash')
    .where('email', '=', email)
    .executeTakeFirstOrThrow()
  expect(password_hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/)
  expect((await page.goto(link))?.status()).toBe(404)
  expect(wrongs).toEqual([])
})

test('a password is changed on the account page, and all sessions are ended there', async () => {
  const email = await fixture.administrator(festival.organizationId)
  const { page, wrongs } = await visit(fixture)
  const other = await visit(fixture)
  await signIn(page, email)
  await signIn(other.page, email)
  await follow(page, 'Account')
  expect(await page.getByRole('row', { name: /Chrom/ }).count()).toBe(2)
  await page.getByRole('button', { name: 'End this session' }).click()
  await page.getByRole('button', { name: 'End this session' }).waitFor({ state: 'detached' })
  // The page is loaded again, and has no rows for a moment.
  await expect.poll(() => page.getByRole('row', { name: /Chrom/ }).count(), { timeout: 120_000 }).toBe(1)
  await signIn(other.page, email)
  await page.getByLabel('Current password').fill('un gelato al pistacchio')
  await page.getByLabel('New password').fill(next)
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed').waitFor()
  await expectAccessible(page)
  await other.page.goto('/keys')
  expect(new URL(other.page.url()).pathname).toBe('/sign-in')
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.waitForURL(/\/sign-in/)
  expect(wrongs).toEqual([])
})

test('a second factor is set up, asked for at the next sign-in, and replaced by a recovery code', async () => {
  const email = await fixture.administrator(festival.organizationId)
  const { page, wrongs } = await visit(fixture)
  await signIn(page, email)
  await follow(page, 'Account')
  await follow(page, 'Set up an app')
  const inApp = await page.getByRole('link', { name: 'Open the app on this device' }).getAttribute('href')
  expect(inApp).toMatch(/^otpauth:\/\/totp\/.*secret=/)
  const shown = (await page.getByText(/^Secret:/).textContent()) ?? ''
  const secret = shown.replace(/^Secret:|\s/g, '')
  const app = new TOTP({ secret: Secret.fromBase32(secret) })
  const isOn = page.getByText('They will not be shown again')
  await until('the code comes before its time is over', async () => {
    // The step before this one, so that the code of this one is not used yet.
    const before = app.generate({ timestamp: Date.now() - 30_000 })
    await page.getByLabel('Code that the app shows').fill(before)
    await page.getByRole('button', { name: 'Turn on' }).click()
    await isOn.or(page.getByRole('alert')).first().waitFor()
    return isOn.isVisible()
  })
  await expectAccessible(page)
  await picture(page, 'recovery-codes')
  await copyFirst(page)
  const codes = await page.locator('.codes code').allTextContents()
  expect((await page.evaluate('navigator.clipboard.readText()').then(String)).split(/\n/)).toEqual([
    ...codes,
    '',
  ])
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download' }).click()
  const file = await (await download).createReadStream()
  expect((await text(file)).split('\n').slice(1, -1)).toEqual(codes)
  const [recovery = ''] = codes
  await follow(page, 'Done, I have kept them')
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()

  const enter = async (code: string) => {
    await enterPassword(page, email)
    await page.getByLabel('Code of your app').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Code of your app').fill(code)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  await enter('000000')
  await page.getByRole('alert').getByText('Incorrect code.').waitFor()
  await expectAccessible(page)
  await enter(app.generate())
  await page.waitForURL(/\/live/)
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await enter(recovery)
  await page.waitForURL(/\/live/)
  await page.goto('/account/second-factor')
  await page.getByText('9 recovery codes').waitFor()
  await expectAccessible(page)
  expect(wrongs).toEqual([])
})

test('a passkey is added, asked for at the next sign-in, and removed', async () => {
  const email = await fixture.administrator(festival.organizationId)
  // Browsers have no passkeys for the number of an address.
  const { page, wrongs } = await visit({ ...fixture, area: fixture.area.replace('127.0.0.1', 'localhost') })
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const key = { protocol: 'ctap2', transport: 'usb', automaticPresenceSimulation: true } as const
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options: key })
  await signIn(page, email)
  await follow(page, 'Account')
  await follow(page, 'Passkeys')
  await page.getByLabel('Name').fill('Key of Anna')
  await page.getByRole('button', { name: 'Create passkey' }).click()
  await page.getByText('They will not be shown again').waitFor()
  await expectAccessible(page)
  await page.goto('/account/passkeys')
  await page.getByRole('row', { name: /Key of Anna/ }).waitFor()
  await expectAccessible(page)
  await page.getByLabel('Name').fill('the same again')
  await page.getByRole('button', { name: 'Create passkey' }).click()
  await page.getByRole('alert').getByText('This device already has a passkey of your account.').waitFor()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.waitForURL(/\/sign-in/)

  await enterPassword(page, email)
  const use = page.getByRole('button', { name: 'Use a passkey' })
  await use.waitFor()
  await expectAccessible(page)
  const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId })
  await devtools.send('WebAuthn.clearCredentials', { authenticatorId })
  await use.click()
  await page.getByRole('alert').getByText('No passkey was used.').waitFor()
  await expectAccessible(page)
  for (const credential of credentials)
    await devtools.send('WebAuthn.addCredential', { authenticatorId, credential })
  await use.click()
  await page.waitForURL(/\/live/)

  await page.goto('/account/passkeys')
  await page.getByRole('button', { name: 'Remove Key of Anna' }).click()
  await page.getByRole('button', { name: 'Remove and turn off' }).click()
  await page.getByText('No passkeys.').waitFor()
  expect(wrongs).toEqual([])
})
