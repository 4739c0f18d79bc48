import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { headerOf, readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { expect, test } from 'vitest'
import { everythingInPostgres, everythingInRedis } from '../hostile/everywhere.ts'

const tally = useTally({ settings: { LOG_LEVEL: 'trace' } })
const marker = 'ada.lovelace@example.org'

test('a customer’s name or e-mail reaches neither Postgres nor Redis, no answer and no log', async () => {
  const festival = newFestival()
  const orderId = 'A-1'
  const of = { customer: { email: marker }, customerName: marker, [marker]: 1 }
  const line = { menuItemId: 7, itemName: 'Burger', quantity: 1, unitPrice: 1, guest: marker }
  await tally.count([
    festival.organization({ contact: marker }),
    festival.event({ owner: marker, areas: [{ areaId: 1, name: 'Kitchen', keeper: marker }] }),
    festival.order({ orderId, ...of, items: [line] }),
    festival.refund({ orderId, ...of }),
    festival.refund({ orderId, ...of, lines: [{ menuItemId: 7, quantity: 1, amount: 1, by: marker }] }),
    // Messages about bad records name the wrong field, never its value.
    festival.order({ orderId: `${marker}/`, status: marker, displayOrderNumber: marker.repeat(20), ...of }),
    festival.refund({ orderId, refundedAt: marker, lines: marker, amount: marker }),
    { ...festival.order(of), value: Buffer.from(`{"${marker}`), key: festival.eventId },
    { ...festival.order({ orderId: 'B', ...of }), key: `${festival.eventId}${marker}` },
  ])
  const token = await tally.key(festival.organizationId)
  const paths = [
    '',
    '/orders',
    `/orders/${orderId}`,
    '/analytics/kpis',
    '/analytics/orders/top-items',
    '/live/item-counts',
  ]
  const answers = await Promise.all(paths.map(path => tally.get(`${festival.path}${path}`, { token })))
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200))

  const logs = [
    ...tally.projectors.map(process => process.log()),
    ...tally.queries.map(({ process }) => process.log()),
  ]
  expect(logs.join('').length).toBeGreaterThan(1000)
  const places = {
    answers: JSON.stringify(answers),
    logs: logs.join(''),
    redis: await everythingInRedis(tally.redis, tally.settings.REDIS_PREFIX as string),
    postgres: await everythingInPostgres(tally.database.db),
  }
  for (const [place, text] of Object.entries(places)) {
    expect(text.toLowerCase().includes(marker) ? `found in ${place}` : 'nowhere').toBe('nowhere')
  }
  expect(places.redis).toContain(festival.eventId)
  expect(places.postgres).toContain(orderId)

  const deadLetters = await readDeadLetters(tally)
  expect(deadLetters).toHaveLength(4)
  for (const deadLetter of deadLetters)
    expect(headerOf(deadLetter, '__connect.errors.exception.message')).not.toContain(marker)
})
