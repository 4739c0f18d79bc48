import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'
import { expectAccessible } from './accessible.ts'
import { follow, signIn, useFixture, visit } from './fixture.ts'

const festival = newFestival()
const fixture = useFixture(async fixture => {
  await fixture.tally.count([festival.organization(), festival.event(), festival.order()])
})

test('the platform team sees a rejected record, and replays it when its cause is mended', async () => {
  await fixture.tally.count([festival.order({ totalAmount: '1' }), festival.order({ dayId: 'x' })])
  const { page, wrongs } = await visit(fixture)
  await signIn(page, await fixture.administrator(festival.organizationId, { isPlatform: true }))
  await follow(page, 'Operations')
  await page.getByText('2 records').waitFor()
  expect(await page.getByRole('row', { name: /totalAmount/ }).textContent()).toContain('schema')
  // A page that was made before all was applied is renewed after 10 s.
  await expect.poll(() => page.getByText('up to date').count()).toBe(2)
  await expectAccessible(page)

  await page
    .getByRole('row', { name: /totalAmount/ })
    .getByRole('checkbox')
    .check()
  await page.getByRole('button', { name: 'Replay selected' }).click()
  await page.getByText('1 dead letter replayed').waitFor()
  // It is as bad as it was: it comes back once, under a new id.
  await until('it came back', async () => {
    await page.goto('/operations')
    return (await page.getByText('2 records').count()) === 1
  })
  expect(wrongs).toEqual([])
})

test('the page refreshes itself every 10 s, not while dead letters are ticked, and says that no answer comes', async () => {
  const { page, wrongs } = await visit(fixture)
  await page.clock.install()
  await signIn(page, await fixture.administrator(festival.organizationId, { isPlatform: true }))
  await page.goto('/operations')
  await page.getByText('2 records').waitFor()
  await fixture.tally.count([festival.order({ dayId: 'x' })])
  await page.clock.runFor(10_000)
  await page.getByText('3 records').waitFor()
  const box = page.getByRole('checkbox').first()
  await box.check()
  await box.blur()
  let asked = 0
  page.on('request', () => asked++)
  await page.clock.runFor(60_000)
  expect([asked, await box.isChecked()]).toEqual([0, true])
  await box.uncheck()
  await box.blur()
  await fixture.tally.count([festival.order({ dayId: 'x' })])
  await page.clock.runFor(10_000)
  await page.getByText('4 records').waitFor()
  await page.route('**/operations', () => undefined)
  await page.clock.runFor(10_000)
  await page.clock.runFor(10_000)
  await page.getByText('Tally does not answer').waitFor()
  expect(wrongs).toEqual([])
})
