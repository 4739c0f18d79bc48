import { createDeadLetters } from '@tally/dead-letters'
import type { OutgoingRecord, RecordBatch } from '@tally/kafka'
import type { ProjectorDeps } from '@tally/projection'
import { freshDatabase } from '../servers/database.ts'
import { testRedis } from '../servers/redis.ts'

export const topics = {
  organizations: 't.organizations',
  events: 't.events',
  orders: 't.orders',
  refunds: 't.refunds',
}
export const shard = 3

/** What a projector needs to apply batches: a database, a Redis prefix, and a collector of its dead letters. */
export async function openHarness() {
  const database = await freshDatabase()
  const { redis, keys } = await testRedis()
  const deadLetters: OutgoingRecord[] = []
  const producer = {
    async send(records: OutgoingRecord[]) {
      deadLetters.push(...records)
    },
  }
  return {
    db: database.db,
    url: database.url,
    redis,
    keys,
    deadLetters,
    deps: {
      db: database.db,
      deadLetters: createDeadLetters(producer, 't.dead-letters'),
    } satisfies ProjectorDeps,
    /** The documents of an event in Redis, by name. */
    readEvent: async (eventId: string) =>
      redis.hgetall(keys.event(eventId as Parameters<typeof keys.event>[0])),
    async close() {
      redis.disconnect()
      await database.drop()
    },
  }
}
export type Harness = Awaited<ReturnType<typeof openHarness>>

type Value = { eventId?: string; organizationId?: string }

/** A batch of a partition: these values under their own keys, from offset `from` on. */
export function batchOf(
  topic: string,
  from: number,
  values: (Value | Buffer)[],
  partition = shard,
): RecordBatch {
  const records = values.map((value, index) => ({
    offset: from + index,
    timestampMs: 0,
    key: Buffer.isBuffer(value) ? null : Buffer.from(value.eventId ?? value.organizationId ?? ''),
    value: Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)),
    headers: {},
  }))
  const next = from + values.length
  return { topic, partition, from, next, lastStableOffset: next, records }
}
