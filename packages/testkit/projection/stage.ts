import { randomUUID } from 'node:crypto'
import { openDeadLetters } from '@tally/dead-letters'
import type { OutgoingRecord, RecordBatch } from '@tally/kafka'
import type { ProjectorParts } from '@tally/projection'
import { freshDatabase } from '../servers/database.ts'
import { testRedis } from '../servers/redis.ts'

export const topics = {
  organizations: 't.organizations',
  events: 't.events',
  orders: 't.orders',
  refunds: 't.refunds',
}
export const friday = 41
export const shard = 3

/** A database, a Redis prefix and a publisher of a projector, and the dead letters that it sent. */
export async function openStage() {
  const database = await freshDatabase()
  const { redis, keys } = await testRedis()
  const letters: OutgoingRecord[] = []
  const producer = {
    async send(records: OutgoingRecord[]) {
      letters.push(...records)
    },
  }
  return {
    db: database.db,
    url: database.url,
    redis,
    keys,
    letters,
    parts: {
      db: database.db,
      deadLetters: openDeadLetters(producer, 't.dead-letters'),
    } satisfies ProjectorParts,
    /** The documents of an event in Redis, by name. */
    readEvent: (eventId: string) => redis.hgetall(keys.event(eventId as Parameters<typeof keys.event>[0])),
    async close() {
      redis.disconnect()
      await database.drop()
    },
  }
}
export type Stage = Awaited<ReturnType<typeof openStage>>

type Value = { eventId?: string; organizationId?: string }

/** What one read of a partition brought: these values, under their own keys, from offset `from` on. */
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
  return { topic, partition, from, next, highWatermark: next, records }
}

export const newEventId = () => randomUUID() as string

/** The record of a paid order of two burgers, 17 euros, on Friday. */
export const anOrder = (eventId: string, fields: Record<string, unknown> = {}) => ({
  eventId,
  orderId: 'A-1',
  version: 1,
  displayOrderNumber: '1',
  status: 'Paid',
  areaId: 1,
  dayId: friday,
  orderDateTime: '2026-09-04T19:31:07Z',
  paymentMethod: 'Cash',
  amountPaid: 20,
  totalAmount: 17,
  isTakeaway: false,
  items: [{ menuItemId: 7, itemName: 'Burger', quantity: 2, unitPrice: 8.5 }],
  ...fields,
})

/** The record of a refund of one burger of order A-1. */
export const aRefund = (eventId: string, fields: Record<string, unknown> = {}) => ({
  eventId,
  refundId: 'R-1',
  orderId: 'A-1',
  refundedAt: '2026-09-04T20:02:00Z',
  amount: 8.5,
  lines: [{ menuItemId: 7, quantity: 1, amount: 8.5 }],
  ...fields,
})

/** The record of an event with Friday, open, in Rome. */
export const anEvent = (eventId: string, organizationId: string, fields: Record<string, unknown> = {}) => ({
  eventId,
  organizationId,
  version: 1,
  name: 'Sagra del Pesce',
  startDate: '2026-09-04T16:00:00Z',
  timeZone: 'Europe/Rome',
  areas: [{ areaId: 1, name: 'Kitchen' }],
  days: [{ dayId: friday, date: '2026-09-04', openedAt: '2026-09-04T16:00:00Z' }],
  menuItems: [{ menuItemId: 7, name: 'Burger', categoryName: 'Grill' }],
  ...fields,
})
