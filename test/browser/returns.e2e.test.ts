import { bar, burger, newFestival, saturday, water } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible } from './accessible.ts'
import { expectFits } from './fits.ts'
import { signIn, useFixture, visit, type Watched } from './fixture.ts'

const festival = newFestival()
const cup = { menuItemId: 70, itemName: 'Cup deposit' }
const cupBack = { menuItemId: 71, itemName: 'Cup returned' }
let visitor: Watched
let page: Page

/** An evening whose cups come back at night: at one till as a negative quantity, at the other as a negative price. */
useFixture(async fixture => {
  const menuItems = [
    { menuItemId: burger, name: 'Burger', categoryName: 'Grill' },
    { menuItemId: water, name: 'Acqua', categoryName: 'Drinks' },
    { menuItemId: cup.menuItemId, name: cup.itemName, categoryName: '' },
    { menuItemId: cupBack.menuItemId, name: cupBack.itemName, categoryName: '' },
  ]
  const at = (time: string) => ({ orderDateTime: `2026-09-0${time}:00+02:00` })
  const sold = ['5T18:20', '5T19:40', '5T20:05', '5T20:50', '5T22:10', '6T00:10'].map(time =>
    festival.order(at(time)),
  )
  const back = { areaId: bar, amountPaid: 0, ...at('6T01:15') }
  await fixture.tally.count([
    festival.organization(),
    festival.event({ menuItems }),
    ...sold,
    festival.order({
      ...at('5T21:31'),
      totalAmount: 4,
      items: [{ ...cup, quantity: 2, unitPrice: 2 }],
    }),
    festival.order({
      ...back,
      totalAmount: -10,
      items: [{ ...cup, quantity: -5, unitPrice: 2 }],
    }),
    festival.order({
      ...back,
      paymentMethod: 'Voucher',
      totalAmount: -30,
      items: [{ ...cupBack, quantity: 15, unitPrice: -2 }],
    }),
  ])
  visitor = await visit(fixture, { locale: 'it-IT' })
  page = visitor.page
  await signIn(page, await fixture.administrator(festival.organizationId))
})

/** The texts of rows, with a bar between their cells. */
async function rows(selector: string): Promise<string[]> {
  const found = await page.locator(selector).all()
  const texts = found.map(row => row.locator(':scope > *').allTextContents())
  return (await Promise.all(texts)).map(cells => cells.join(' | ').replaceAll('\u00a0', ' '))
}

test('the live screen has returned cups below the best sellers, and the night at the end', async () => {
  await until('it is live', async () => (await rows('#best li')).length > 0)
  expect(await rows('#best li')).toEqual(['Burger | 150,00 € | 12 | ', 'Acqua | 15,00 € | 6 | '])
  expect(await page.getByRole('list', { name: 'Returns and vouchers' }).isVisible()).toBe(true)
  expect(await rows('#returned li')).toEqual(['Cup returned | -30,00 € | 15', 'Cup deposit | -6,00 € | -3'])
  expect((await rows('#hours-rows tr')).slice(-3)).toEqual([
    '22:00 | 1 | 27,50 €',
    '00:00 | 1 | 27,50 €',
    '01:00 | 2 | -40,00 €',
  ])
  await expectAccessible(page)
  await expectFits(page, 'live-returns')
})

test('the sheet has them on their own too, and fits the paper', async () => {
  await page.goto(`/live/day?eventId=${festival.eventId}&day=${saturday}`)
  expect(await rows('.sheet .group ~ tr')).toEqual([
    'Cup returned | 15 | 0 | -30,00 €',
    'Cup deposit | -3 | 0 | -6,00 €',
  ])
  await expectAccessible(page)
  await expectFits(page, 'day-returns')
  expect(visitor.wrongs).toEqual([])
})
