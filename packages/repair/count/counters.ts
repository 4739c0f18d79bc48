import { formatTimestamp } from '@tally/contract'
import { type AreaChanges, type CounterChanges, noAreaChanges, noStatuses } from '@tally/core'
import type { Finding } from '../differences.ts'

/** What must be added to the `stored` counters to get the `counted` ones. */
export function correction(counted: CounterChanges, stored: CounterChanges): CounterChanges {
  const changes: CounterChanges = new Map()
  for (const dayId of keysOf(counted, stored)) {
    const [to, from] = [counted.get(dayId), stored.get(dayId)]
    const areas = keysOf(to, from).map(
      areaId => [areaId, areaCorrection(to?.get(areaId), from?.get(areaId))] as const,
    )
    changes.set(dayId, new Map(areas))
  }
  return changes
}

function areaCorrection(to: AreaChanges = noAreaChanges(), from: AreaChanges = noAreaChanges()): AreaChanges {
  return {
    daily: {
      ...minus(totalsOf(to), totalsOf(from)),
      statuses: minus(to.daily.statuses, from.daily.statuses),
    },
    hourly: perKey(to.hourly, from.hourly, { orders: 0, salesCents: 0 }),
    items: perKey(to.items, from.items, noItem),
    orderBuckets: perKey(to.orderBuckets, from.orderBuckets, noStatuses()),
  }
}

const noItem = { orders: 0, quantity: 0, grossCents: 0, refundedQuantity: 0, refundedCents: 0 }
const totalsOf = ({ daily: { salesCents, itemsSold } }: AreaChanges) => ({ salesCents, itemsSold })

function perKey<Key extends number, Row extends Record<string, number>>(
  to: Map<Key, Row>,
  from: Map<Key, Row>,
  nothing: Row,
): Map<Key, Row> {
  return new Map(keysOf(to, from).map(key => [key, minus(to.get(key) ?? nothing, from.get(key) ?? nothing)]))
}

function minus<Row extends Record<string, number>>(to: Row, from: Row): Row {
  const fields = Object.keys(to).map(field => [field, (to[field] ?? 0) - (from[field] ?? 0)])
  return Object.fromEntries(fields) as Row
}

function keysOf<Key extends number>(...maps: (Map<Key, unknown> | undefined)[]): Key[] {
  return [...new Set(maps.flatMap(map => [...(map?.keys() ?? [])]))].sort((one, other) => one - other)
}

/** Each counter whose stored value differs from the counted one; a row of zeros equals a missing row. */
export function counterFindings(counted: CounterChanges, stored: CounterChanges): Finding[] {
  const [should, is] = [cellsOf(counted), cellsOf(stored)]
  return [...new Set([...should.keys(), ...is.keys()])]
    .map(what => ({
      where: 'postgres' as const,
      what,
      found: is.get(what) ?? 0,
      counted: should.get(what) ?? 0,
    }))
    .filter(({ found, counted }) => found !== counted)
}

/** Counters by name, without those that are 0: `item_counters day 41 area 0 item 7 quantity`. */
function cellsOf(counters: CounterChanges): Map<string, number> {
  const cells = new Map<string, number>()
  const put = (row: string, values: Record<string, number>) => {
    for (const [name, value] of Object.entries(values))
      if (value !== 0) cells.set(`${row} ${columnOf(name)}`, value)
  }
  for (const [dayId, areas] of counters) {
    for (const [areaId, { daily, hourly, items, orderBuckets }] of areas) {
      const { statuses, ...totals } = daily
      put(`daily_counters day ${dayId} area ${areaId}`, { ...statuses, ...totals })
      for (const [bucket, row] of hourly)
        put(`hourly_counters day ${dayId} area ${areaId} bucket ${formatTimestamp(bucket)}`, row)
      for (const [item, row] of items) put(`item_counters day ${dayId} area ${areaId} item ${item}`, row)
      for (const [slot, row] of orderBuckets) put(`order_slots slot ${slot} day ${dayId} area ${areaId}`, row)
    }
  }
  return cells
}

/** The column of a counter: ready_for_pickup for `ReadyForPickup`, sales_cents for `salesCents`. */
function columnOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter, index) => `${index === 0 ? '' : '_'}${letter.toLowerCase()}`)
}
