import { runTally } from '@tally/testkit/processes/process'
import type { Tally } from '@tally/testkit/processes/tally'
import { expect } from 'vitest'

/** An organization of the feed and its event. */
export type Evening = { organizationId: string; eventId: string; dayId: number }

/** Counts a simulated evening, with discounts, refunds and cancelled orders; returns its largest event. */
export async function countEvening(tally: Tally, orders: number): Promise<Evening> {
  const feed = ['feed', '--rate', '0', '--orders', String(orders), '--evenings', '1']
  const { code, stderr } = await runTally(feed, tally.settings)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  await tally.settle()
  const { event_id, organization_id, day_id } = await tally.database.db
    .selectFrom('orders as order')
    .innerJoin('events as event', 'event.event_id', 'order.event_id')
    .select(['order.event_id', 'event.organization_id', 'order.day_id'])
    .select(of => of.fn.countAll().as('count'))
    .groupBy(['order.event_id', 'event.organization_id', 'order.day_id'])
    .orderBy('count', 'desc')
    .executeTakeFirstOrThrow()
  return { eventId: event_id, organizationId: organization_id, dayId: Number(day_id) }
}
