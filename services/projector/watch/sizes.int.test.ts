import { createMetrics } from '@tally/platform'
import { projectBatch } from '@tally/projection'
import { batchOf, type Harness, shard, topics } from '@tally/testkit/projection/harness'
import { test } from '@tally/testkit/projection/projectionTest'
import { anEvent, anOrder, newEventId, newOrganizationId } from '@tally/testkit/records/records'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { projectorMetrics } from '../metrics.ts'
import { createPublisher } from '../publish/publisher.ts'
import { Sizes } from './sizes.ts'

const keeps = [{ topic: topics.organizations, partition: 0 }]

/** Measures as a projector that was just started does; returns the series by metric and organization. */
async function measured(harness: Harness, assigned = keeps) {
  const { registry, ...metrics } = createMetrics('projector')
  const { organizationRows, organizationRedisBytes } = projectorMetrics({ registry, ...metrics }, [])
  const sizes = new Sizes({
    ...harness,
    organizationsTopic: topics.organizations,
    metrics: { organizationRows, organizationRedisBytes },
  })
  await sizes.step(assigned)
  const series = async (name: string) => {
    const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] }
    return new Map(values.map(({ labels, value }) => [labels.organization, value]))
  }
  return {
    rows: await series('tally_projector_organization_rows'),
    bytes: await series('tally_projector_organization_redis_bytes'),
  }
}

test('the large organizations are measured, and events without a record; the others have no series', async ({
  harness,
  eventId,
}) => {
  const [organizationId, unknown] = [newOrganizationId(), newEventId()]
  const publisher = createPublisher(harness)
  const { effects } = await projectBatch(
    harness.deps,
    'events',
    batchOf(topics.events, 0, [anEvent({ eventId, organizationId })]),
  )
  if (effects) publisher.add({ topic: topics.events, partition: shard }, effects)
  await publisher.flush()
  await projectBatch(
    harness.deps,
    'orders',
    batchOf(topics.orders, 0, [anOrder({ eventId }), anOrder({ eventId: unknown })]),
  )
  expect(await measured(harness)).toEqual({ rows: new Map(), bytes: new Map() })
  const [head] = (
    await sql`select counted_rows, redis_bytes from event_heads where event_id = ${eventId}`.execute(
      harness.db,
    )
  ).rows as { counted_rows: number; redis_bytes: number }[]
  // One order, and the orders, the quarter hour, the items and the payment method of its area and of all areas.
  expect(head?.counted_rows).toBe(9)
  expect(head?.redis_bytes).toBeGreaterThan(500)

  await sql`update event_heads set counted_rows = 100000, redis_bytes = 7e8`.execute(harness.db)
  expect(await measured(harness)).toEqual({
    rows: new Map([
      [organizationId, 100_000],
      ['unknown', 100_000],
    ]),
    bytes: new Map([
      [organizationId, 7e8],
      ['unknown', 7e8],
    ]),
  })
  expect(await measured(harness, [])).toEqual({ rows: new Map(), bytes: new Map() })

  // `tally events remove` deletes the rows later, at the same revision.
  await sql`update event_heads set is_removed = true where event_id = ${unknown}`.execute(harness.db)
  expect((await measured(harness)).rows).toEqual(new Map([[organizationId, 100_000]]))
})
