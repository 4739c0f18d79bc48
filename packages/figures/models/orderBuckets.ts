import { byStatus, counter } from '../counting/counter.ts'

/**
 * Orders by status in each five minutes (`orderBucketOf`), for an order's own area only: finds a page of the order list
 * without reading those before.
 */
export const orderBuckets = counter({
  table: 'order_slots',
  key: { slot: 'int', day_id: 'int', area_id: 'int' },
  amounts: byStatus('int'),
  count(rows, facts, sign) {
    rows.at(facts.orderBucket)[facts.status] += sign
  },
})
