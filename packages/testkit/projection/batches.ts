import type { EventId, RecordType } from '@tally/contract'
import { composeDocuments } from '@tally/figures'
import { ensureOffsets, readOffsets } from '@tally/offsets'
import { inSnapshot } from '@tally/platform'
import { projectBatch } from '@tally/projection'
import { batchOf, type Harness, shard, topics } from './harness.ts'

type Values = Parameters<typeof batchOf>[2]

/** Projects batches about one event from offset 0 on, and reads the figures of its Friday from Postgres. */
export async function openBatches(harness: Harness, eventId: string) {
  harness.deadLetters.length = 0
  await harness.db.deleteFrom('shard_offsets').execute()
  for (const topic of Object.values(topics)) await ensureOffsets(harness.db, topic, [shard])

  const project =
    (type: RecordType) =>
    (from: number, ...values: Values) =>
      projectBatch(harness.deps, type, batchOf(topics[type], from, values))
  const document = async (name: 'kpis:41:0' | 'hours:41:0') => {
    const composed = await inSnapshot(harness.db, snapshot =>
      composeDocuments(snapshot, { events: [eventId as EventId] }),
    )
    return JSON.parse(composed.get(eventId as EventId)?.get(name) ?? 'null')
  }
  return {
    events: project('events'),
    orders: project('orders'),
    refunds: project('refunds'),
    hours: () => document('hours:41:0'),
    /** Null if nothing is counted. */
    async figures(): Promise<{ orders: number; sales: number; sold: number } | null> {
      const kpis = await document('kpis:41:0')
      return kpis && { orders: kpis.totalOrders, sales: kpis.totalSales, sold: kpis.totalItemsSold }
    },
    async stored() {
      const rows = await readOffsets(harness.db, [topics.orders])
      return rows.find(({ partition }) => partition === shard)
    },
  }
}
export type Batches = Awaited<ReturnType<typeof openBatches>>
