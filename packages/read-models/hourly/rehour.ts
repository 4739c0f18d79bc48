import type { EventId } from '@tally/contract'
import { allAreas, type HourlyChange, type HourOf, noAreaChanges } from '@tally/core'
import { sql } from 'kysely'
import type { Tx } from '../postgres/database.ts'
import { addHourly } from './writer.ts'

/**
 * Counts an event's hours again from its orders, for a time zone that came or changed: a changed time zone
 * moves old orders too (messages.md section 4). Day by day, and by the second in SQL, so that what comes here
 * is bounded; the zone's rules are Node's, never those of Postgres.
 */
export async function rehour(tx: Tx, eventId: EventId, hourOf: HourOf): Promise<void> {
  await tx.deleteFrom('hourly_counters').where('event_id', '=', eventId).execute()
  const days = await tx
    .selectFrom('daily_counters')
    .select('day_id')
    .where('event_id', '=', eventId)
    .where('area_id', '=', allAreas)
    .execute()
  for (const { day_id } of days) {
    const { rows } = await sql<{ area_id: number; second: number; orders: number; sales_cents: number }>`
select area_id, ordered_at / 1000 as second, count(*) as orders,
  sum(total_cents - least(total_cents, refunded_cents))::bigint as sales_cents
from orders
where event_id = ${eventId} and day_id = ${day_id} and version > 0
  and status in ('Paid', 'Preparing', 'ReadyForPickup', 'Completed')
group by 1, 2`.execute(tx)
    const areas = new Map<number, Map<number, HourlyChange>>()
    for (const { area_id, second, orders, sales_cents } of rows) {
      const hour = hourOf((second * 1000) as Parameters<HourOf>[0])
      for (const area of [area_id, allAreas]) {
        const hours = areas.get(area) ?? new Map<number, HourlyChange>()
        const bucket = hours.get(hour) ?? { orders: 0, salesCents: 0 }
        hours.set(hour, { orders: bucket.orders + orders, salesCents: bucket.salesCents + sales_cents })
        areas.set(area, hours)
      }
    }
    const changes = new Map([...areas].map(([area, hourly]) => [area, { ...noAreaChanges(), hourly }]))
    await addHourly(new Map([[eventId, new Map([[day_id, changes]])]]))?.execute(tx)
  }
}
