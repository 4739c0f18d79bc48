import { createHash } from 'node:crypto'
import { decodeRecord, type RecordOf, type RecordType } from '@tally/contract'
import { expect, test } from 'vitest'
import { festivals } from '../festivals/index.ts'
import type { FeedRecord } from '../record.ts'
import { eventRecord, festivalDay, menuItems, simulationRevision } from './calendar.ts'
import { eveningSpan, type Simulation, simulate, simulationShare } from './simulate.ts'

/** A record of the simulation, as the projector would read it, and its place among all. */
type Sent<Value> = { place: number; atMs: number; text: string; value: Value }

/** The records of one topic; throws if the projector would reject one. */
function readRecords<Topic extends RecordType>(
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

const oneEvening: Simulation = { seed: 1, orders: 3000, evenings: 1, date: '2026-09-04' }
const records = [...simulate(oneEvening)]

const orders = readRecords('orders', records)
const refunds = readRecords('refunds', records)
const orderKey = ({ eventId, orderId }: { eventId: string; orderId: string }) => `${eventId} ${orderId}`
const byOrder = Map.groupBy(orders, ({ value }) => orderKey(value))

test('the same options give the same records, byte for byte', () => {
  expect([...simulate(oneEvening)]).toEqual(records)
})

test('another evening of the same options needs another revision: its ids and versions are those of before', () => {
  const digest = createHash('sha256')
  for (const { value } of simulate({ ...oneEvening, orders: 500, evenings: 2 })) digest.update(`${value}\n`)
  expect([simulationRevision, digest.digest('hex').slice(0, 16)]).toEqual([4, '1b447767e244ca25'])
})

test('a run that goes on sends what is left, byte for byte, with its organizations and events once more', () => {
  const endless = { ...oneEvening, evenings: 2 }
  const whole = [...simulate(endless)]
  for (const at of [0, 5_000, whole.length - 1_000]) {
    const from = whole[at]?.position ?? { evening: 0, records: 0 }
    const rest = [...simulate({ ...endless, from })]
    const left = whole.slice(at + 1).filter(({ position }) => position !== undefined)
    const again = rest.slice(0, rest.length - left.length)
    expect(rest.slice(again.length)).toEqual(left)
    // Nothing waits for them: they have no time.
    expect(new Set(again.map(({ topic, atMs }) => `${topic} ${atMs}`))).toEqual(
      new Set(['organizations null', ...(from.records > 0 ? ['events null'] : [])]),
    )
  }
})

test('no version says two things, also if the last records before a kill are sent again', () => {
  const endless = { ...oneEvening, orders: 1_500, evenings: 2 }
  const whole = [...simulate(endless)]
  const from = whole[Math.floor(0.6 * whole.length)]?.position ?? { evening: 0, records: 0 }
  const said = new Map<string, string | null>()
  for (const { topic, key, value } of [...whole, ...simulate({ ...endless, from })]) {
    const { version, orderId = '', refundId = '' } = JSON.parse(value ?? '')
    const name = `${topic} ${key} ${topic === 'refunds' ? refundId : orderId} ${version}`
    expect([name, said.get(name) ?? value]).toEqual([name, value])
    said.set(name, value)
  }
  expect(said.size).toBeGreaterThan(whole.length / 2)
})

test('another seed gives other events, orders and refunds, and the same organizations', () => {
  const others = [...simulate({ ...oneEvening, seed: 2 })]
  const shared = new Set(records.map(({ value }) => value))
  expect([...new Set(others.filter(({ value }) => shared.has(value)).map(({ topic }) => topic))]).toEqual([
    'organizations',
  ])
})

test('another seed gives other baskets, not just other ids', () => {
  const amounts = (seed: number) =>
    readRecords('orders', [...simulate({ ...oneEvening, seed, orders: 50 })]).map(
      ({ value }) => value.totalAmount,
    )
  expect(amounts(2)).not.toEqual(amounts(1))
})

test('the projector accepts every record', () => {
  for (const topic of ['organizations', 'events', 'orders', 'refunds'] as const) {
    expect(
      readRecords(topic, [...simulate({ seed: 7, orders: 4000, evenings: 2, date: '2026-10-24' })]).length,
    ).toBeGreaterThan(0)
  }
})

test('own time never runs backwards', () => {
  const times = records.map(({ atMs }) => atMs ?? 0)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})

test('the requested number of orders is spread over the organizations by their weight', () => {
  expect(byOrder.size).toBe(3000)
  const perEvent = Map.groupBy(byOrder.values(), ([first]) => first?.value.eventId)
  expect([...perEvent.values()].map(list => list.length).toSorted((a, b) => b - a)).toEqual([
    1200, 960, 540, 300,
  ])
})

test('even a single order is sent', () => {
  const few = readRecords('orders', [...simulate({ ...oneEvening, orders: 1 })])
  expect(new Set(few.map(({ value }) => value.orderId)).size).toBe(1)
})

test('each order sends versions 1, 2, 3 … in turn; only an exact repeat has the same version', () => {
  for (const sent of byOrder.values()) {
    const firsts = sent.filter(({ text }, index) => sent.findIndex(other => other.text === text) === index)
    expect(firsts.map(({ value }) => value.version)).toEqual(firsts.map((_, index) => index + 1))
  }
  expect(new Set(orders.map(({ text }) => text)).size).toBeLessThan(orders.length)
})

test('an order goes through its statuses in sequence, and some are cancelled', () => {
  const ranks = ['PreOrder', 'Pending', 'Paid', 'Preparing', 'ReadyForPickup', 'Completed']
  const seen = new Set<string>()
  for (const sent of byOrder.values()) {
    const statuses = sent
      .toSorted((a, b) => a.value.version - b.value.version)
      .map(({ value }) => value.status)
    for (const status of statuses) seen.add(status)
    const walked = statuses.filter(status => status !== 'Cancelled').map(status => ranks.indexOf(status))
    expect(walked).toEqual(walked.toSorted((a, b) => a - b))
    if (statuses.includes('Cancelled')) expect(statuses.at(-1)).toBe('Cancelled')
  }
  expect([...seen].toSorted()).toEqual([...ranks, 'Cancelled'].toSorted())
})

test('a refund is at most what its order cost, and is not made before the order', () => {
  for (const { value } of refunds) {
    const order = byOrder.get(orderKey(value))?.at(-1)?.value
    expect(value.amount).toBeLessThanOrEqual(order?.totalAmount ?? -1)
    expect(value.refundedAt).toBeGreaterThanOrEqual(order?.orderDateTime ?? Number.POSITIVE_INFINITY)
  }
})

test('an order that is cancelled after payment is refunded in full', () => {
  const calledOff = [...byOrder.values()].filter(sent =>
    ['Paid', 'Cancelled'].every(status => sent.some(({ value }) => value.status === status)),
  )
  expect(calledOff.length).toBeGreaterThan(0)
  for (const [first] of calledOff) {
    const total = first && byOrder.get(orderKey(first.value))?.at(-1)?.value.totalAmount
    const given = refunds.find(({ value }) => first && orderKey(value) === orderKey(first.value))
    expect(given?.value.amount).toBe(total)
  }
})

test('an order has up to 6 lines of what its area sells, then deposits and vouchers, in whole cents', () => {
  const menus = festivals.map(menuItems)
  for (const { value, text } of orders) {
    expect(text).not.toMatch(/\d\.\d{3}/)
    const menu = menus.find(items =>
      value.items.every(line =>
        items.some(({ menuItemId, name }) => menuItemId === line.menuItemId && name === line.itemName),
      ),
    )
    const soldAt = value.items.map(
      line => menu?.find(({ menuItemId }) => menuItemId === line.menuItemId)?.soldAt,
    )
    const dishes = soldAt.filter(areas => areas?.length !== 0)
    expect(dishes.length).toBeLessThanOrEqual(6)
    expect(dishes.every(areas => areas?.includes(value.areaId))).toBe(true)
    // Deposits and vouchers are the last lines.
    expect(soldAt.slice(0, dishes.length)).toEqual(dishes)
    expect(value.items.length).toBeGreaterThanOrEqual(1)
  }
})

test('an evening opens the day of its events before the first order and closes it after the last', () => {
  const both = [...simulate({ ...oneEvening, orders: 400, evenings: 2 })]
  const events = Map.groupBy(readRecords('events', both), ({ value }) => value.eventId)
  expect(events.size).toBe(4)
  for (const [eventId, sent] of events) {
    expect(sent.map(({ value }) => value.version)).toEqual([1, 2, 3, 4])
    expect(sent.map(({ value }) => value.days.map(day => day.closedAt !== null))).toEqual([
      [false],
      [true],
      [true, false],
      [true, true],
    ])
    expect(sent[3]?.value.days.map(({ dayId, date }) => [dayId, date])).toEqual([
      [1, '2026-09-04'],
      [2, '2026-09-05'],
    ])
    for (const order of readRecords('orders', both)) {
      if (order.value.eventId !== eventId) continue
      const [opened, closed] = order.value.dayId === 1 ? [sent[0], sent[1]] : [sent[2], sent[3]]
      expect(order.place).toBeGreaterThan(opened?.place ?? Number.POSITIVE_INFINITY)
      expect(order.place).toBeLessThan(closed?.place ?? -1)
    }
  }
})

test('an endless simulation continues with the next calendar day', () => {
  const dates = new Set<string>()
  for (const { topic, value } of simulate({ seed: 1, orders: 5, evenings: 0, date: '2026-12-30' })) {
    if (topic === 'events')
      dates.add((JSON.parse(value ?? '') as { days: { date: string }[] }).days.at(-1)?.date ?? '')
    if (dates.size === 3) break
  }
  expect([...dates]).toEqual(['2026-12-30', '2026-12-31', '2027-01-01'])
})

test('after 1,000 days, the limit of an event, the next event begins', () => {
  const [festival] = festivals
  if (festival === undefined) throw new Error('there are no festivals')
  const full = eventRecord(festival, oneEvening, 999, 'closed')
  const next = eventRecord(festival, oneEvening, 1000, 'open')
  expect([full.days.length, full.version, next.days.length, next.version]).toEqual([1000, 2000, 1, 1])
  expect(next.eventId).not.toBe(full.eventId)
  expect(festivalDay(festival, oneEvening, 1000)).toMatchObject({ eventId: next.eventId, dayId: 1 })
})

test('the share of a simulation grows from 0 to 1 with its own time', () => {
  const { fromMs, toMs } = eveningSpan(oneEvening)
  const share = simulationShare({ ...oneEvening, evenings: 2 })
  expect([share(fromMs), share((fromMs + toMs) / 2), share(toMs), share(toMs + 86_400_000)]).toEqual([
    0, 0.25, 0.5, 1,
  ])
})
