import type { ByKey, Counter, OwnKey, Row } from '../counting/counter.ts'
import { type CounterName, counters, zeros } from '../counting/counters.ts'
import { amountColumns, ownKeyOf } from './statement.ts'

/** The text that makes a JSON array of a stored row: the own key (a block's number, 0 without one) and the amounts. */
export function rowText(counter: Counter): string {
  const key = counter.blocks === undefined ? (ownKeyOf(counter) ?? '0') : 'block'
  return `json_build_array(${[key, ...amountColumns(counter)].join(', ')})`
}

/** Of a counter in blocks, the amounts are arrays with a number per key. */
export type RowsJson = [key: OwnKey, ...amounts: (number | number[])[]][]

/** Reads rows of `rowText`; zeros in blocks are none. Throws a RangeError if a number is beyond 2^53. */
export function rowsReader(name: CounterName): (json: RowsJson) => ByKey<string> {
  const counter: Counter = counters[name]
  const zero = zeros[name]
  const amounts = Object.keys(counter.amounts)
  const { blocks } = counter
  if (blocks === undefined)
    return json =>
      json.map(cells => {
        const row = zero()
        for (let n = 0; n < amounts.length; n++) row[amounts[n] as string] = safe(cells[n + 1])
        return [typeof cells[0] === 'string' ? cells[0] : safe(cells[0]), row]
      })

  return json => {
    const rows: [number, Row][] = []
    for (const [block, ...numbers] of json as [number, ...number[][]][]) {
      for (let place = 0; place < blocks.size; place++) {
        if (numbers.every(ofBlock => ofBlock[place] === 0)) continue
        const row = zero()
        for (let n = 0; n < amounts.length; n++) row[amounts[n] as string] = safe(numbers[n]?.[place])
        rows.push([block * blocks.size + place, row])
      }
    }
    return rows
  }
}

function safe(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new RangeError('a counter of the database is beyond 2^53')
  return value as number
}
