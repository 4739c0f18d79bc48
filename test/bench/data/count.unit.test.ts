import { oracle } from '@tally/testkit/oracle/oracle'
import { expect, test } from 'vitest'
import { openCount } from './count.ts'
import { evenShape } from './shape.ts'
import { streamOf } from './stream.ts'

test("the count for millions of orders equals the tests' oracle on a few", () => {
  const records = [...streamOf(evenShape(3, 600, 2))]
  const count = openCount()
  for (const record of records) count.add(record)
  const counted = oracle(records)

  expect(count.eventIds()).toEqual(counted.eventIds)
  expect(count.orders()).toBe(600)
  for (const eventId of count.eventIds()) {
    const event = counted.event(eventId)
    const expected = event.dayIds.flatMap(dayId => [
      ...[undefined, ...event.areaIds].map(areaId => event.kpis({ dayId, areaId })),
      event.itemCounts(dayId),
    ])
    expect(count.answers(eventId).map(({ data }) => data)).toEqual(expected)
    const dayId = event.dayIds.at(-1)
    expect(count.polledAnswers(eventId).map(({ data }) => data)).toEqual([
      event.kpis({ dayId }),
      event.itemCounts(dayId),
      event.byHour({ dayId }),
      event.topItems({ dayId }),
    ])
    expect(count.listed(eventId)).toEqual(event.orders({}).map(({ id }) => id))
    expect(expected).toContainEqual(expect.objectContaining({ totalOrders: expect.any(Number) }))
  }
})

test('later records are counted too, a repeat and an older version are not', () => {
  const records = [...streamOf(evenShape(3, 100, 1))]
  const count = openCount()
  for (const record of records) count.add(record)
  const [eventId = ''] = count.eventIds()
  const before = count.answers(eventId)
  for (const record of records) count.add(record)
  expect(count.answers(eventId)).toEqual(before)

  const order = records.findLast(({ type }) => type === 'orders')
  count.add({ type: 'orders', value: { ...order?.value, orderId: 'new', version: 1, status: 'Paid' } })
  expect(count.answers(eventId)).not.toEqual(before)
})
