import type { EventId } from '@tally/contract'
import { bigintsAt, ints, uuids } from '@tally/platform'
import type { CounterChanges } from '../counting/changes.ts'
import type { Counter, Row } from '../counting/counter.ts'
import { type CounterName, counters } from '../counting/counters.ts'
import { columnOf, keyColumns } from './columns.ts'
import { type AreaKey, flattenAreas, isZero, sorted } from './rows.ts'
import { statement } from './statement.ts'
import type { Write } from './write.ts'

/** Limits a write: if keys are far apart, each has its own block. */
const blocksPerWrite = 8_000

/**
 * The writes that add changes to a counter that is stored in blocks, each to different rows. A batch of thousands of
 * orders changes far fewer rows than with one row per menu item.
 */
export function insertBlocks(name: CounterName): (changes: Map<EventId, CounterChanges>) => Generator<Write> {
  const counter: Counter = counters[name]
  const { seldom = [], size = 1 } = counter.blocks ?? {}
  const all = Object.keys(counter.amounts)
  const usual = all.filter(amount => !seldom.includes(amount))
  const insertAll = statement(blocksText(counter, all))
  const insertUsual = statement(blocksText(counter, usual))
  return function* (changes) {
    for (const { rows, positions, items } of blocksOf(changes, name, size)) {
      const isUsual = items.every(row => seldom.every(amount => row[amount] === 0))
      const updated = isUsual ? usual : all
      yield (isUsual ? insertUsual : insertAll)(
        ...updated.map(amount =>
          bigintsAt(rows.length * size, positions, items, row => row[amount] as number),
        ),
        uuids(rows.map(({ place }) => place.eventId)),
        ints(rows.map(({ place }) => place.dayId)),
        ints(rows.map(({ place }) => place.areaId)),
        ints(rows.map(({ block }) => block)),
      )
    }
  }
}

/**
 * The text that adds blocks to the stored ones: for each updated amount an array of the numbers of all blocks, then
 * their keys. Sums are written out number by number: Postgres cannot add two arrays, and a function would be called
 * for each row.
 */
export function blocksText(counter: Counter, updated: string[]): string {
  const { size = 1 } = counter.blocks ?? {}
  const key = ['event_id', ...keyColumns(counter)].join(', ')
  const names = Object.keys(counter.amounts)
  const places = Array.from({ length: size }, (_, index) => index + 1)
  const slice = `[(number - 1) * ${size} + 1 : number * ${size}]`
  const block = (name: string) =>
    updated.includes(name) ? `${columnOf(name)}${slice}` : `array_fill(0::bigint, array[${size}])`
  const sums = (column: string) =>
    places.map(place => `stored.${column}[${place}] + excluded.${column}[${place}]`)
  return `
insert into ${counter.table} as stored (${key}, ${names.map(columnOf).join(', ')})
select ${key},
  ${names.map(block).join(',\n  ')}
from
  (select ${updated.map(name => `$::bigint[] as ${columnOf(name)}`).join(', ')}) as all_blocks,
  unnest($::uuid[], $::int[], $::int[], $::int[]) with ordinality as place (${key}, number)
on conflict (${key}) do update set
  ${updated
    .map(columnOf)
    .map(column => `${column} = array[${sums(column).join(', ')}]`)
    .join(',\n  ')}`
}

/** Blocks in the order of their rows: `items[n]` goes to index `positions[n]` of the concatenated numbers. */
type Blocks = { rows: { place: AreaKey; block: number }[]; positions: number[]; items: Row[] }

const noBlocks = (): Blocks => ({ rows: [], positions: [], items: [] })

/** The changed items by block, ordered by (event, day, area, block), in portions of at most `blocksPerWrite`. */
function* blocksOf(
  changes: Map<EventId, CounterChanges>,
  name: CounterName,
  size: number,
): Generator<Blocks> {
  let blocks = noBlocks()
  for (const { place, changed } of flattenAreas(changes, (area, place) => [{ place, changed: area[name] }])) {
    let last: number | undefined
    for (const [key, row] of sorted(changed as Map<number, Row>)) {
      if (isZero(row)) continue
      const block = Math.floor(key / size)
      if (block !== last && blocks.rows.length === blocksPerWrite) {
        yield blocks
        blocks = noBlocks()
      }
      if (block !== last) blocks.rows.push({ place, block })
      last = block
      blocks.positions.push((blocks.rows.length - 1) * size + (key % size))
      blocks.items.push(row)
    }
  }
  if (blocks.rows.length > 0) yield blocks
}
