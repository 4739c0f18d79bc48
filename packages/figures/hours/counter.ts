import { counter } from '../counting/counter.ts'

/** Confirmed orders by UTC time bucket (`bucketStart`); the local hour is derived when a document is composed. */
export const hourly = counter({
  table: 'hourly_counters',
  key: { day_id: 'int', area_id: 'int', bucket: 'time' },
  amounts: { orders: 'bigint', salesCents: 'bigint' },
  count(rows, facts, sign) {
    if (!facts.confirmed) return
    const bucket = rows.at(facts.bucket)
    bucket.orders += sign
    bucket.salesCents += sign * facts.salesCents
  },
})
