import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder } from '@tally/testkit/records/decoded'
import { expect, test } from 'vitest'
import { newEvent, signedIn, useFixture } from '../test/fixture.ts'

const fixture = useFixture()

const day = (date: string, closedAt: number | null) => [{ dayId: 41, date, openedAt: 0, closedAt }]

/** Two events of one name: the later one open without a sale, the earlier one over, with sales and a pre-order. */
async function twoOfOneName() {
  const { visitor, ...office } = await signedIn(fixture)
  const { organizationId } = office
  const over = await newEvent(fixture, organizationId, {
    days: day('2026-09-04', 1),
    timeZone: 'Europe/Rome',
  })
  const open = await newEvent(fixture, organizationId, { days: day('2026-09-05', null), startDate: 5 })
  const at = (orderDateTime: string, more = {}) =>
    anOrder({ eventId: over, dayId: 41, orderId: orderDateTime, orderDateTime, ...more })
  const later = at('2026-09-04T22:00:00Z', { status: 'PreOrder' })
  await countNewOrders(fixture.db, [at('2026-09-04T18:00:00Z'), at('2026-09-04T19:31:07Z'), later])
  return { visitor, over, open, organizationId }
}
const british = { 'accept-language': 'en-GB' }

test('the live screen opens the event with the latest sale, also if another one is open', async () => {
  const { visitor, over, open } = await twoOfOneName()
  expect((await visitor.get('/live')).body).toContain(`data-stream="/live/stream?eventId=${over}&amp;day=41"`)
  const sale = anOrder({ eventId: open, dayId: 41, orderDateTime: '2026-09-05T17:00:00Z' })
  await countNewOrders(fixture.db, [sale])
  expect((await visitor.get('/live')).body).toContain(`data-stream="/live/stream?eventId=${open}&amp;day=41"`)
})

test('events of one name differ by dates and activity, in the event’s time zone', async () => {
  const { visitor, over, open } = await twoOfOneName()
  const { body } = await visitor.get('/live', british)
  expect(body).toContain(
    `<a href="/live?eventId=${over}" aria-current="true"><span><bdi>Sagra del Pesce</bdi> · 4 Sept 2026 · last sale 4 Sept 2026, 21:31</span></a>`,
  )
  expect(body).toContain(
    `<a href="/live?eventId=${open}"><span><bdi>Sagra del Pesce</bdi> · 5 Sept 2026 · open · nothing sold yet</span></a>`,
  )
  for (const form of ['/keys/new', '/screens'])
    expect((await visitor.get(form, british)).body).toContain(
      `<option value="${open}">\u2068Sagra del Pesce\u2069 · 5 Sept 2026 · open · nothing sold yet</option>`,
    )
})

test('where names differ, forms show the name alone', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  const eventId = await newEvent(fixture, organizationId)
  expect((await visitor.get('/keys/new')).body).toContain(
    `<option value="${eventId}">Sagra del Pesce</option>`,
  )
})

test('without any sale the live screen opens the event that is open', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  await newEvent(fixture, organizationId, { days: day('2026-09-04', 1), startDate: 9 })
  const open = await newEvent(fixture, organizationId, { days: day('2026-09-03', null) })
  expect((await visitor.get('/live')).body).toContain(`eventId=${open}&amp;day=41`)
})

test('a stream or a file of a day or an area that the event does not list is a 404, and the page shows another', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  const statusOf = async (path: string) => (await visitor.get(path)).statusCode
  expect(await statusOf('/live/day')).toBe(404)
  const eventId = await newEvent(fixture, organizationId, { areas: [{ areaId: 3, name: 'Bar' }] })
  await countNewOrders(fixture.db, [anOrder({ eventId, dayId: 41 })])
  for (const unlisted of ['day=42', 'day=41&area=2'])
    for (const [path, status] of [
      ['/live', 200],
      ['/live/day', 404],
      ['/live/orders.csv', 404],
      ['/live/stream', 404],
    ] as const) {
      const found = await statusOf(`${path}?eventId=${eventId}&${unlisted}`)
      expect([path, unlisted, found]).toEqual([path, unlisted, status])
    }
  // What is asked of one event reads no other.
  const other = await newEvent(fixture, organizationId)
  const unreadable = { document: '[]' }
  await fixture.db.updateTable('events').set(unreadable).where('event_id', '=', other).execute()
  expect(await statusOf(`/live/day?eventId=${eventId}&day=41&area=3`)).toBe(200)
})
