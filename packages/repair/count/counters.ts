import { type EpochMs, formatTimestamp } from '@tally/contract'
import {
  addCounters,
  type Counter,
  type CounterChanges,
  columnOf,
  counterNames,
  counters,
  type OwnKey,
} from '@tally/figures'
import type { Finding } from '../differences.ts'

/** What must be added to the `stored` counters to get the `counted` ones. */
export function correction(counted: CounterChanges, stored: CounterChanges): CounterChanges {
  const changes: CounterChanges = new Map()
  addCounters(changes, counted, 1)
  addCounters(changes, stored, -1)
  return changes
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
function cellsOf(changes: CounterChanges): Map<string, number> {
  const cells = new Map<string, number>()
  for (const [dayId, areas] of changes) {
    for (const [areaId, area] of areas) {
      for (const name of counterNames) {
        for (const [key, row] of area[name]) {
          const place = placeOf(counters[name], { dayId, areaId, key })
          for (const [amount, value] of Object.entries(row))
            if (value !== 0) cells.set(`${place} ${columnOf(amount)}`, value)
        }
      }
    }
  }
  return cells
}

type Place = { dayId: number; areaId: number; key: OwnKey }

/** The name of a row: its table, and each column of its key with the value. */
function placeOf({ table, key: columns }: Counter, { dayId, areaId, key }: Place): string {
  const named = Object.entries(columns).map(([column, type]) => {
    if (column === 'day_id') return `day ${dayId}`
    if (column === 'area_id') return `area ${areaId}`
    if (type === 'text') return `${column} ${JSON.stringify(key)}`
    return `${column} ${type === 'time' ? formatTimestamp(key as EpochMs) : key}`
  })
  return [table, ...named].join(' ')
}
