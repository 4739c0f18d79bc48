import type { Tally } from '@tally/testkit/processes/tally'
import { bar, friday, kitchen, newFestival, saturday } from '@tally/testkit/records/festival'
import { type Fixture, signIn, visit } from './fixture.ts'

/** A menu of 60 items, sold at two areas on two evenings, of which the second has been open for two hours. */
export const large = newFestival()
const menuItems = Array.from({ length: 60 }, (_, index) => ({
  menuItemId: index + 1,
  name: `Dish ${index + 1}`,
  categoryName: ['Fritti', 'Primi', 'Griglia', 'Dolci', 'Bibite', 'Vini'][Math.floor(index / 10)] ?? '',
}))

/** Counts both evenings, and a sale of the festival of the year before. */
async function countLarge(tally: Tally): Promise<void> {
  const now = Date.now()
  const at = (hoursAgo: number) => new Date(now - hoursAgo * 3_600_000).toISOString()
  const days = [
    { dayId: friday, date: '2026-09-04', openedAt: at(26), closedAt: at(20) },
    { dayId: saturday, date: '2026-09-05', openedAt: at(2), closedAt: null },
  ]
  const order = (dayId: number, areaId: number, hoursAgo: number, quantity: number, items = menuItems) =>
    large.order({
      dayId,
      areaId,
      orderDateTime: at(hoursAgo),
      totalAmount: quantity * items.length,
      items: items.map(({ menuItemId, name }) => ({ menuItemId, itemName: name, quantity, unitPrice: 1 })),
    })
  const last = newFestival({ organizationId: large.organizationId })
  await tally.count([
    large.organization(),
    last.event({ name: 'Sagra 2025', startDate: '2025-09-05T16:00:00Z' }),
    last.order({ totalAmount: 1_234.5 }),
    large.event({ days, menuItems }),
    order(friday, kitchen, 25.5, 1),
    order(saturday, kitchen, 0.1, 1),
    order(saturday, kitchen, 0.1, 7, menuItems.slice(57, 58)),
    order(saturday, bar, 0.1, 1),
  ])
}

let session: ReturnType<typeof signInOnce> | undefined

/** Opens the live page of the festival as a new visitor, with the one session that all have. */
export async function openLarge(fixture: Fixture, options: Parameters<typeof visit>[1] = {}) {
  session ??= signInOnce(fixture)
  const watched = await visit(fixture, { ...options, storageState: await session })
  await watched.page.goto('/live')
  return watched
}

async function signInOnce(fixture: Fixture) {
  await countLarge(fixture.tally)
  const { page } = await visit(fixture)
  await signIn(page, await fixture.administrator(large.organizationId))
  return page.context().storageState()
}
