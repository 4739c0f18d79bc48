import { ask } from '@tally/testkit/processes/http'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'
import { expectAccessible } from './accessible.ts'
import { copyFirst, follow, picture, signIn, useFixture, visit } from './fixture.ts'

const festival = newFestival()
let email: string
const fixture = useFixture(async fixture => {
  await fixture.tally.count([festival.organization(), festival.event(), festival.order()])
  email = await fixture.administrator(festival.organizationId)
})

test('a key is made, copied, used, and refused after it is revoked', async () => {
  const { page, wrongs } = await visit(fixture)
  await page.goto('/keys')
  expect(new URL(page.url()).pathname).toBe('/sign-in')
  await signIn(page, email)

  await follow(page, 'API keys')
  await follow(page, 'New key')
  await page.getByRole('textbox', { name: 'Name' }).fill('Kitchen screen')
  await page.getByRole('checkbox', { name: /analytics:read/ }).check()
  await page.getByRole('combobox', { name: 'Event' }).selectOption({ label: 'Sagra del Pesce' })
  await page.getByRole('button', { name: 'Create key' }).click()

  await page.getByText('It will not be shown again').waitFor()
  await copyFirst(page)
  const token = await page.evaluate('navigator.clipboard.readText()').then(String)
  expect(token).toMatch(/^tally_\w{12}_\w{49}$/)
  const curl = (await page.locator('#curl').textContent()) ?? ''
  const [, address = '', path = ''] = /(http:\/\/[^/]+)(\S+)$/.exec(curl) ?? []
  const answer = await ask(address, path, { token })
  expect([answer.status, answer.body.data[0].quantitySold]).toEqual([200, 2])

  // What can be copied is whole, and each program has a button of its own.
  await page.locator('summary', { hasText: 'Home Assistant' }).click()
  await expectAccessible(page)
  await page.locator('#home-assistant + button').click()
  expect(await page.evaluate('navigator.clipboard.readText()').then(String)).toContain(
    `X-Api-Key: ${token}\n    scan_interval: 60\n`,
  )

  // A reload shows the key without its token, and makes no second one.
  await page.reload()
  expect(await page.content()).not.toContain(token.slice(-49))
  await follow(page, 'API keys')
  expect(await page.getByRole('row', { name: /Kitchen screen/ }).count()).toBe(1)

  await follow(page, 'Kitchen screen')
  await follow(page, 'Revoke')
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('refused everywhere within a second').waitFor()
  // That it takes less than a second: test/acceptance/keys.e2e.test.ts.
  await until('it is refused', async () => (await ask(address, path, { token })).status === 401)
  expect(wrongs).toEqual([])
})

test('the keys page shows what each key is for, and the audit list who made it', async () => {
  const { page, wrongs } = await visit(fixture)
  await signIn(page, email)
  const make = async (name: string, scopes: string[], expires: string, event = 'All events') => {
    await page.goto('/keys/new')
    await page.getByRole('textbox', { name: 'Name' }).fill(name)
    for (const scope of scopes) await page.getByRole('checkbox', { name: new RegExp(scope) }).check()
    await page.getByRole('combobox', { name: 'Event' }).selectOption({ label: event })
    await page.getByRole('combobox', { name: 'Ends' }).selectOption({ label: expires })
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('It will not be shown again').waitFor()
  }
  await make('Bar display', ['analytics:read'], 'Never', 'Sagra del Pesce')
  await make('Accounting export', ['events:read', 'orders:read'], 'In 7 days')
  await make('Press dashboard', ['events:read', 'analytics:read'], 'In 1 year')
  await page.goto('/keys')
  await page.evaluate('document.fonts.ready')
  await picture(page, 'keys', true)
  const row = page.getByRole('row', { name: /Accounting export/ })
  expect(await row.textContent()).toMatch(/Events Orders\s+All events.*never.*Active/s)

  await follow(page, 'Audit')
  expect(
    await page.getByRole('row', { name: /Created an API key.*Press dashboard/s }).textContent(),
  ).toContain(email)
  expect(wrongs).toEqual([])
})

test('a rotated key’s new token works, and the old one until its time is over', async () => {
  const { page } = await visit(fixture)
  await signIn(page, email)
  const token = await fixture.tally.key(festival.organizationId)
  const address = fixture.tally.queries[0]?.address ?? ''
  await page.goto(`/keys/${token.split('_')[1]}/rotate`)
  await page.getByLabel('At once').check()
  await page.getByRole('button', { name: 'Create new token' }).click()
  const next = (await page.locator('#token').textContent()) ?? ''
  await until(
    'the old one is refused',
    async () => (await ask(address, '/api/v1/events', { token })).status === 401,
  )
  expect((await ask(address, '/api/v1/events', { token: next })).status).toBe(200)
})

test('the usage page shows who asked how often, who was refused, and what is left of the limit', async () => {
  const { page, wrongs } = await visit(fixture)
  await signIn(page, email)
  const address = fixture.tally.queries[0]?.address ?? ''
  const token = await fixture.tally.key(festival.organizationId, { name: 'Poller', scopes: ['events:read'] })
  for (let times = 0; times < 3; times++) await ask(address, '/api/v1/events', { token })
  await ask(address, `${festival.path}/orders`, { token })
  await until('all four are counted', async () => {
    await page.goto('/usage')
    const [row = ''] = await page.getByRole('row', { name: /Poller/ }).allTextContents()
    return /4 4 200 3 403 1/.test(row.replace(/\s+/g, ' '))
  })
  expect(await page.getByText(/Poller: 1 request 403 missing scope/).count()).toBe(1)
  expect(wrongs).toEqual([])
})
