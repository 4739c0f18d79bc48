import { nextRevision } from '@tally/offsets'
import type { Tx } from '@tally/platform'
import { publishEvents } from '@tally/publication'
import { sql } from 'kysely'
import type { DayRef } from '../live/day.ts'
import { type Fixture, newEvent, newOffice } from './fixture.ts'

/** An event with one open day, 41, on which nothing is sold yet. */
export async function newDay(fixture: Fixture): Promise<DayRef> {
  const { organizationId } = await newOffice(fixture)
  const eventId = await newEvent(fixture, organizationId)
  await fixture.db.insertInto('event_heads').values({ event_id: eventId, shard: 0, revision: 1 }).execute()
  return { eventId, dayId: 41 }
}

/** Sells for cash in Postgres as the projector does, and publishes to Redis unless told not to. */
export async function sell(
  fixture: Fixture,
  { eventId, dayId }: DayRef,
  orders: number,
  isPublished = true,
): Promise<void> {
  await change(fixture, eventId, isPublished, tx =>
    sql`
with paid as (
  insert into payment_counters
  values (${eventId}, ${dayId}, 0, 'Cash', ${orders}, 0, ${orders * 1_000}, ${orders * 1_000})
  on conflict (event_id, day_id, area_id, payment_method) do update
  set orders = excluded.orders, total_cents = excluded.total_cents, sales_cents = excluded.sales_cents
)
insert into daily_counters
values (${eventId}, ${dayId}, 0, 0, 1, ${orders}, 0, 0, 0, 0, ${orders * 1_000}, ${orders})
on conflict (event_id, day_id, area_id) do update
set paid = excluded.paid, sales_cents = excluded.sales_cents`.execute(tx),
  )
}

/** A later record of the event, with other days. */
export async function listDays(fixture: Fixture, eventId: DayRef['eventId'], days: object[]): Promise<void> {
  await change(fixture, eventId, true, tx =>
    sql`
update events
set version = version + 1,
  document = document::jsonb || jsonb_build_object('days', ${JSON.stringify(days)}::jsonb, 'version', version + 1)
where event_id = ${eventId}`.execute(tx),
  )
}

async function change(
  fixture: Fixture,
  eventId: DayRef['eventId'],
  isPublished: boolean,
  make: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  await fixture.db.transaction().execute(async tx => {
    const revision = await nextRevision(tx)
    await make(tx)
    await tx.updateTable('event_heads').set({ revision }).where('event_id', '=', eventId).execute()
  })
  if (isPublished) await publishEvents(fixture.deps, new Map([[eventId, { whole: true }]]))
}
