import { runTally } from '@tally/testkit/processes/process'
import { newFestival } from '@tally/testkit/records/festival'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible } from './accessible.ts'
import { type Fixture, follow, openFixture, picture, signIn, visit } from './fixture.ts'

let fixture: Fixture
const festival = newFestival()
beforeAll(async () => {
  fixture = await openFixture()
  await fixture.tally.count([festival.organization(), festival.event(), festival.order()])
}, 300_000)
afterAll(() => fixture?.close())

const next = 'un altro gelato alla fragola'

test('a reset link sets a new password, with which one signs in, and works once', async () => {
  const email = await fixture.administrator(festival.organizationId)
  const { page, wrongs } = await visit(fixture)
  const settings = { ...fixture.tally.settings, ADMIN_URL: fixture.area }
  const { stdout } = await runTally(['administrators', 'reset', '--email', email], settings)
  const link = stdout.trim()
  await page.goto(link)
  await expectAccessible(page)
  await page.getByLabel('New password').fill('password1234')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByRole('alert').getByText('too easy to guess').waitFor()
  await expectAccessible(page)
  await page.getByLabel('New password').fill(next)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Password set. Sign in with it.').waitFor()
  await expectAccessible(page)
  await signIn(page, email, next)
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
  await expectAccessible(page)
  await picture(page, 'account')
  expect(await page.getByRole('row', { name: /Chrom/ }).count()).toBe(2)
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
