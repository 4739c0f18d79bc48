import { nextRevision, publishEvents } from '@tally/read-models'
import type { Tx } from '@tally/storage'
import { sql } from 'kysely'
import type { DayRef } from '../live/day.ts'
import type { Fixture } from './fixture.ts'

/** Sells in Postgres as the projector does, and publishes to Redis unless told not to. */
export async function sell(
  fixture: Fixture,
  { eventId, dayId }: DayRef,
  orders: number,
  isPublished = true,
): Promise<void> {
  const none = { pre_order: 0, pending: 1, preparing: 0, ready_for_pickup: 0, completed: 0, cancelled: 0 }
  const row = { event_id: eventId, day_id: dayId, area_id: 0, ...none, items_sold: orders }
  const sold = { paid: orders, sales_cents: orders * 1_000 }
  await change(fixture, eventId, isPublished, tx =>
    tx
      .insertInto('daily_counters')
      .values({ ...row, ...sold })
      .onConflict(of => of.columns(['event_id', 'day_id', 'area_id']).doUpdateSet(sold))
      .execute(),
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
