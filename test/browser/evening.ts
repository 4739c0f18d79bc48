import { runTally } from '@tally/testkit/processes/process'
import type { Tally } from '@tally/testkit/processes/tally'
import { sql } from 'kysely'
import { expect } from 'vitest'

/** An organization of the feed and its event. */
export type Evening = { organizationId: string; eventId: string; dayId: number }

/** Counts a simulated evening, with discounts, refunds and cancelled orders; returns its largest event. */
export async function countEvening(tally: Tally, orders: number): Promise<Evening> {
  const feed = ['feed', '--rate', '0', '--orders', String(orders), '--evenings', '1']
  const { code, stderr } = await runTally(feed, tally.settings)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  await tally.settle()
  const { rows } = await sql<Evening>`
select event_id as "eventId", organization_id as "organizationId", day_id as "dayId"
from orders join events using (event_id)
group by event_id, organization_id, day_id
order by count(*) desc
limit 1`.execute(tally.database.db)
  return rows[0] as Evening
}
