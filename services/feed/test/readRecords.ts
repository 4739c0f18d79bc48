import { decodeRecord, type RecordOf, type RecordType } from '@tally/contract'
import type { FeedRecord } from '../record.ts'

/** A record of the simulation, as the projector would read it, and its place among all. */
export type Sent<Value> = { place: number; atMs: number; text: string; value: Value }

/** The records of one topic; throws if the projector would reject one. */
export function readRecords<Topic extends RecordType>(
  topic: Topic,
  records: readonly FeedRecord[],
): Sent<RecordOf<Topic>>[] {
  return records.flatMap((record, place) => {
    if (record.topic !== topic) return []
    const decoded = decodeRecord(topic, Buffer.from(record.key ?? ''), Buffer.from(record.value ?? ''))
    if (decoded.outcome === 'rejected') throw new Error(`${decoded.message}: ${record.value}`)
    return [{ place, atMs: record.atMs ?? 0, text: record.value ?? '', value: decoded.value }]
  })
}

/** What an evening of one festival comes to: each order and each refund at its last version, money in cents. */
export function festivalBooks(records: readonly FeedRecord[]) {
  const books = new Map(
    readRecords('events', records).map(({ value }) => [
      value.eventId as string,
      { event: value, orders: new Map<string, OrderValue>(), refunds: new Map<string, RefundValue[]>() },
    ]),
  )
  for (const { value } of readRecords('orders', records)) {
    const orders = books.get(value.eventId)?.orders
    if ((orders?.get(value.orderId)?.version ?? 0) < value.version) orders?.set(value.orderId, value)
  }
  for (const { value } of readRecords('refunds', records)) {
    const refunds = books.get(value.eventId)?.refunds
    const versions = refunds?.get(value.refundId) ?? []
    versions[value.version - 1] = value
    refunds?.set(value.refundId, versions)
  }
  return [...books.values()]
}

type OrderValue = RecordOf<'orders'>
type RefundValue = RecordOf<'refunds'>
