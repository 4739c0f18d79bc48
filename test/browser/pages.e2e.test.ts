import { beginReset } from '@tally/access'
import { newFestival } from '@tally/testkit/records/festival'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible } from './accessible.ts'
import { countEvening, type Evening } from './evening.ts'
import { expectFits } from './fits.ts'
import { signIn, useFixture, visit } from './fixture.ts'

let evening: Evening
let email: string
const empty = newFestival()
const fixture = useFixture(async fixture => {
  await fixture.tally.count([
    empty.organization({ name: 'Associazione Turistica Pro Loco di San Vito al Tagliamento' }),
  ])
  evening = await countEvening(fixture.tally, 400)
  email = await fixture.administrator(evening.organizationId, { isPlatform: true })
})

/** Judges the page as it is: tests of single pages need not. */
async function judge(page: Page, name: string) {
  await expectFits(page, name)
  await expectAccessible(page)
}

/** Opens and judges pages one after the other in one session. */
const tour = (page: Page) => async (name: string, path: string, ready?: () => Promise<unknown>) => {
  await page.goto(path)
  await ready?.()
  await judge(page, name)
}

async function judgeWrongPassword(page: Page) {
  await page.goto('/confirm')
  await page.getByLabel('Password').fill('wrong')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').getByText('Incorrect password.').waitFor()
  await judge(page, 'confirm-wrong')
}

test('every page fits a phone, a tablet and a screen, and can be read by everybody, light and dark', async () => {
  const { page, wrongs } = await visit(fixture, { locale: 'it-IT' })
  const see = tour(page)
  await see('sign-in', '/sign-in')
  const { db } = fixture.tally.database
  const { token: resetToken } = await db.transaction().execute(tx => beginReset(tx, email))
  await see('reset', `/reset/${resetToken}`)
  await see('reset-ended', '/reset/none')
  await signIn(page, email)

  const isLive = () => page.locator('#status:is([data-state="live"], [data-state="closed"])').waitFor()
  await see('live', '/live', isLive)
  await see('item', (await page.locator('.counts a').first().getAttribute('href')) ?? '')
  await page.goBack()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('banner').getByRole('button', { name: 'Menu' }).click()
  await judge(page, 'menu')
  await see('day', `/live/day?eventId=${evening.eventId}&day=${evening.dayId}`)
  await see('days', `/live/days?eventId=${evening.eventId}`)
  await see('screens', '/screens')
  await page.getByLabel('Name').fill('Sala grande')
  await page.getByRole('radio', { name: /^Kitchen/ }).check()
  await page.getByLabel('Ends').selectOption('date')
  await page.getByRole('button', { name: 'Create link' }).click()
  await page.getByText('Choose an area of this event.').waitFor()
  await judge(page, 'screens-wrong')
  const area = page.locator('#area optgroup:not([disabled]) option').first()
  await page.getByLabel('Area', { exact: true }).selectOption(await area.getAttribute('value'))
  await page.getByLabel('Ends').selectOption('week')
  await page.getByRole('button', { name: 'Create link' }).click()
  const link = (await page.locator('#token').textContent()) ?? ''
  await judge(page, 'screen-link')
  await see('screens-listed', '/screens')
  await see('screen', new URL(link).pathname, isLive)

  await see('keys-none', '/keys')
  await see('key-new', '/keys/new')
  await page.getByRole('textbox', { name: 'Name' }).fill('Schermo della cucina, a sinistra')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Select at least one scope.').waitFor()
  await judge(page, 'key-new-wrong')
  await page.getByRole('checkbox').first().check()
  await page.getByRole('button', { name: 'Create key' }).click()
  const token = (await page.locator('#token').textContent()) ?? ''
  await judge(page, 'key-made')
  await fixture.tally.get('/api/v1/events', { token })
  const key = `/keys/${token.split('_')[1]}`
  await fixture.tally.count([empty.order({ totalAmount: '1' })])
  for (const [name, path] of [
    ['keys', '/keys'],
    ['key', key],
    ['key-rotate', `${key}/rotate`],
    ['key-revoke', `${key}/revoke`],
    ['usage', '/usage'],
    ['audit', '/audit'],
    ['operations', '/operations'],
    ['runbook', '/operations/runbook'],
    ['account', '/account'],
    ['people', '/account/people'],
    ['second-factor', '/account/second-factor'],
    ['passkeys', '/account/passkeys'],
    ['confirm', '/confirm'],
    ['not-found', '/nowhere'],
  ] as const)
    await see(name, path)
  await judgeWrongPassword(page)
  await page.goto(`${key}/revoke`)
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('Revoked and expired', { exact: true }).click()
  await judge(page, 'keys-ended')
  expect(wrongs).toEqual([])
})

test('an organization without events has a page that fits, and so have the longest names, 60 days and seven digits', async () => {
  const { page } = await visit(fixture)
  await signIn(page, await fixture.administrator(empty.organizationId, { isPlatform: true }))
  const see = tour(page)
  await see('no-events', '/live')
  const name = (start: string) => start.padEnd(200, 'W')
  const days = Array.from({ length: 60 }, (_, day) => {
    const openedAt = new Date(Date.UTC(2026, 7, 1 + day, 15)).toISOString()
    return { dayId: day + 1, date: openedAt.slice(0, 10), openedAt, closedAt: day === 59 ? null : openedAt }
  })
  const areas = [name('מטבח '), name('بار ')].map((name, index) => ({ areaId: index + 1, name }))
  const menuItems = [{ menuItemId: 1, name: name('פלאפל '), categoryName: name('قهوة ') }]
  const items = [{ menuItemId: 1, itemName: 'x', quantity: 270, unitPrice: 100 }]
  const sold = { dayId: 60, areaId: 1, orderDateTime: '2026-09-29T17:00:00Z', totalAmount: 27_000, items }
  await fixture.tally.count([
    empty.event({ name: name('מהרגאן '), days, areas, menuItems }),
    newFestival({ organizationId: empty.organizationId }).event({ name: name('مهرجان ') }),
    ...days.map(() => empty.order({ ...sold, paymentMethod: name('שובר ') })),
  ])
  const isThere = () => page.getByText('€1,620,000.00').first().waitFor()
  await see('long-names', `/live?eventId=${empty.eventId}`, isThere)
  await page.getByText('Change festival').click()
  await judge(page, 'festivals')
  await page.setViewportSize({ width: 390, height: 844 })
  expect((await page.locator('#sales').boundingBox())?.y).toBeLessThan(844 / 3)
})

test('on a phone the header is one line, and its menu has all pages and works without a script', async () => {
  const { page } = await visit(fixture, { viewport: { width: 390, height: 844 }, javaScriptEnabled: false })
  await signIn(page, email)
  const menu = page.getByRole('button', { name: 'Menu' })
  expect((await page.locator('.top').boundingBox())?.height).toBeLessThanOrEqual(64)
  expect(await page.getByRole('link', { name: 'API keys' }).isVisible()).toBe(false)
  await menu.click()
  for (const name of ['Live', 'Screens', 'API keys', 'Usage', 'Audit', 'People', 'Account']) {
    const link = page.locator('nav').getByRole('link', { name })
    expect([name, (await link.boundingBox())?.height]).toEqual([
      name,
      expect.toSatisfy(height => height >= 44),
    ])
  }
  await page.keyboard.press('Escape')
  expect(await page.getByRole('link', { name: 'API keys' }).isVisible()).toBe(false)
  await menu.click()
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.waitForURL(/\/keys$/)
  expect(await page.locator('nav [aria-current]').allTextContents()).toEqual(['API keys'])
  await menu.click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL(/\/sign-in/)
})
