import { createHash } from 'node:crypto'
import { decodeRecord } from '@tally/contract'
import { expect, test } from 'vitest'
import { evenShape } from './shape.ts'
import { streamOf } from './stream.ts'

test('the usual data set has 300,000 order records over 200,000 orders, and 9,000 refunds', () => {
  const counts: Record<string, number> = {}
  const orderIds = new Set<string>()
  for (const { type, value } of streamOf(evenShape(1, 200_000))) {
    counts[type] = (counts[type] ?? 0) + 1
    if (type === 'orders') orderIds.add(value.eventId + value.orderId)
  }
  expect(counts).toEqual({ organizations: 4, events: 40, orders: 300_000, refunds: 9_000 })
  expect(orderIds.size).toBe(200_000)
})

test('every record is a good one, with three lines, on one of five days and in one of five areas', () => {
  const [days, areas, items] = [new Set(), new Set(), new Set()]
  for (const { type, value } of streamOf(evenShape(1, 4_000, 10))) {
    const key = Buffer.from(type === 'organizations' ? value.organizationId : value.eventId)
    const decoded = decodeRecord(type, key, Buffer.from(JSON.stringify(value)))
    expect(decoded).toMatchObject({ outcome: 'decoded' })
    if (type !== 'orders') continue
    expect(value.items).toHaveLength(3)
    days.add(value.dayId)
    areas.add(value.areaId)
    for (const { menuItemId } of value.items) items.add(menuItemId)
  }
  expect([days.size, areas.size, items.size]).toEqual([5, 5, 80])
})

test('a seed makes the same records again, another one makes others', () => {
  const hashOf = (seed: number) => {
    const hash = createHash('sha256')
    for (const record of streamOf(evenShape(seed, 1_000))) hash.update(JSON.stringify(record))
    return hash.digest('hex')
  }
  expect(hashOf(7)).toBe(hashOf(7))
  expect(hashOf(8)).not.toBe(hashOf(7))
})

test('orders that do not divide by the events are all there', () => {
  const { ordersByEvent } = evenShape(1, 1_001)
  expect(ordersByEvent.reduce((sum, orders) => sum + orders, 0)).toBe(1_001)
})
