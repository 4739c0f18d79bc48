import { byStatus, counter } from '../counting/counter.ts'

/** Orders by status; sales and items of the confirmed ones. */
export const daily = counter({
  table: 'daily_counters',
  key: { day_id: 'int', area_id: 'int' },
  amounts: { ...byStatus('bigint'), salesCents: 'bigint', itemsSold: 'bigint' },
  count(rows, facts, sign) {
    const day = rows.only()
    day[facts.status] += sign
    if (!facts.confirmed) return
    day.salesCents += sign * facts.salesCents
    day.itemsSold += sign * facts.itemsSold
  },
})
