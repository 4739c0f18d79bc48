import type { OrganizationId } from '@tally/contract'
import { tally } from '@tally/testkit/processes/command'
import type { Finished } from '@tally/testkit/processes/process'
import type { Harness } from '@tally/testkit/projection/harness'
import { test } from '@tally/testkit/projection/projectionTest'
import { anEvent, anOrder, newEventId, newOrganizationId } from '@tally/testkit/records/records'
import { addOrganization } from '@tally/testkit/records/rows'
import { expect, inject } from 'vitest'

const run = (harness: Harness, ...args: string[]): Promise<Finished> =>
  tally(['events', ...args], {
    DATABASE_URL: harness.url,
    REDIS_URL: inject('servers').redisUrl,
    REDIS_PREFIX: harness.keys.event('' as never).replace(/:documents:.*/, ''),
  })

const linesOf = ({ stdout }: Finished) => stdout.split('\n').filter(Boolean)
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
const aDay = (days: number) => ({
  dayId: 41,
  date: daysAgo(days).slice(0, 10),
  openedAt: daysAgo(days),
  closedAt: daysAgo(days),
})

test('the list has the ids that keys create takes, with names, start, last sale and orders', async ({
  harness,
  eventId,
  at,
}) => {
  const organizationId = await addOrganization(harness.db)
  await at.events(0, anEvent({ eventId, organizationId }))
  const cancelled = { orderId: 'A-2', status: 'Cancelled', orderDateTime: '2026-09-04T22:00:00Z' }
  await at.orders(0, anOrder({ eventId }), anOrder({ eventId, ...cancelled }))

  const listed = await run(harness, 'list', '--json', '--organization', organizationId.toUpperCase())
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(linesOf(listed).map(line => JSON.parse(line))).toEqual([
    {
      organizationId,
      organizationName: 'Pro Loco',
      eventId,
      name: 'Sagra del Pesce',
      startDate: '2026-09-04T16:00:00Z',
      lastSaleAt: '2026-09-04T19:31:07Z',
      orders: 2,
    },
  ])
  const [heading, line] = linesOf(await run(harness, 'list', '--organization', organizationId))
  expect(heading).toMatch(/^ORGANIZATION +EVENT +STARTS +LAST SALE +ORDERS +NAME$/)
  expect(line).toBe(
    `${organizationId}  ${eventId}  2026-09-04  2026-09-04          2  Pro Loco: Sagra del Pesce`,
  )
  // Others are known: that records do not arrive would be a false trail.
  const unknown = newOrganizationId()
  expect((await run(harness, 'list', '--organization', unknown)).stderr).toBe(
    `organization ${unknown} is not known: see \`tally events list\`\n`,
  )
})

test('the list has organizations without events, and events of which only orders have arrived', async ({
  harness,
  eventId,
  at,
}) => {
  const organizationId = await addOrganization(harness.db)
  await at.orders(0, anOrder({ eventId }))
  const lines = linesOf(await run(harness, 'list', '--json')).map(line => JSON.parse(line))
  expect(lines).toContainEqual(expect.objectContaining({ organizationId, eventId: null, orders: 0 }))
  expect(lines).toContainEqual(
    expect.objectContaining({ organizationId: null, eventId, name: null, orders: 1 }),
  )
})

test('a removal shows what goes and changes nothing without --yes', async ({ harness, eventId, at }) => {
  const organizationId = newOrganizationId()
  await at.events(0, anEvent({ eventId, organizationId }))
  await at.orders(0, anOrder({ eventId }))
  const shown = await run(harness, 'remove', eventId)
  expect(shown).toMatchObject({ code: 2, stderr: 'tally: nothing was changed: repeat with --yes to do it\n' })
  expect(linesOf(shown)).toEqual([
    expect.stringMatching(/^ORGANIZATION/),
    expect.stringContaining(`${organizationId}  ${eventId}`),
    '1 event with 1 order: these, their refunds, counters and documents are removed for good',
  ])
  expect(await at.figures()).toMatchObject({ orders: 1 })
  const removed = await run(harness, 'remove', eventId, '--yes')
  expect(removed).toMatchObject({ code: 0, stderr: '' })
  expect(linesOf(removed).at(-1)).toBe('removed 1 event with 1 order')
  expect(await at.figures()).toBeNull()
  const left = linesOf(await run(harness, 'list', '--organization', organizationId))
  expect(left).toEqual([
    expect.stringMatching(/^ORGANIZATION/),
    expect.stringContaining(`${organizationId}  -  `),
  ])
})

test('--older-than chooses events whose start, days and last sale are before', async ({ harness, at }) => {
  const organizationId = newOrganizationId() as OrganizationId
  const ids = Array.from({ length: 6 }, newEventId)
  const [old, soldLately, openLately, yetToCome, onlyOrders, inYearZero] = ids
  const event = (eventId: unknown, more = {}) =>
    anEvent({ eventId, organizationId, startDate: daysAgo(100), days: [aDay(100)], ...more })
  await at.events(
    0,
    event(old),
    event(soldLately),
    event(openLately, { days: [aDay(100), { ...aDay(10), dayId: 42 }] }),
    event(yetToCome, { startDate: daysAgo(-10), days: [] }),
    // Postgres has no year 0.
    event(inYearZero, { days: [{ ...aDay(100), date: '0000-02-29' }] }),
  )
  const sale = (eventId: unknown, days: number) => anOrder({ eventId, orderDateTime: daysAgo(days) })
  await at.orders(0, sale(old, 95), sale(soldLately, 10), sale(openLately, 95), sale(onlyOrders, 95))

  const chosenBy = async (age: string) => {
    const { stdout } = await run(harness, 'remove', '--older-than', age)
    return ids.filter(id => stdout.includes(id))
  }
  expect(await chosenBy('60d')).toEqual([old, onlyOrders, inYearZero])
  expect(await chosenBy(daysAgo(60).slice(0, 10))).toEqual([old, onlyOrders, inYearZero])
  // A day ends later in other time zones.
  expect(await chosenBy(daysAgo(9).slice(0, 10))).toEqual([old, soldLately, onlyOrders, inYearZero])
  expect(await chosenBy('1d')).toEqual([old, soldLately, openLately, onlyOrders, inYearZero])
})

test.each([
  [[], 'remove takes EVENTs or --older-than, one of both'],
  [['x'], 'EVENT takes a UUID (8-4-4-4-12 hex digits), got "x"'],
])('refuses remove %j', async (args, message) => {
  const ran = await tally(['events', 'remove', ...args], {})
  expect(ran).toEqual({ code: 2, stdout: '', stderr: `tally: ${message}\n` })
})

test('refuses to remove an event that was never known', async ({ harness, eventId }) => {
  expect(await run(harness, 'remove', eventId, '--yes')).toEqual({
    code: 1,
    stdout: '',
    stderr: `tally: there is no event ${eventId}: see \`tally events list\`\n`,
  })
})
