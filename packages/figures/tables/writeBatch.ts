import type { EventId } from '@tally/contract'
import { bigints, bigintsAt, ints, type Tx, texts, uuids } from '@tally/platform'
import { sql } from 'kysely'
import type { Counter, KeyType, OwnKey, Row } from '../counting/counter.ts'
import {
  type AreaChanges,
  type AreaKey,
  type CounterChanges,
  type CounterName,
  counterNames,
  counters,
} from '../counting/counters.ts'
import { amountColumns, columnOf, keyColumns, ownKeyOf, statement, type Write } from './statement.ts'

/** A batch has at most two writes of its own, and one per counter. */
const names = Array.from({ length: 2 + counterNames.length }, (_, index) => statement(`write_${index + 1}`)())

/**
 * Writes everything that a batch changed in one statement, so in one round trip: its own `writes`, the counters of the
 * events it changed, and a new revision on those events (docs/architecture.md, invariant 3); `scattered`: those of them
 * that from now on have records in several shards. Returns the revision. Only a batch with very many items needs more
 * statements. The events must be locked (`lockEvents`): revisions grow in the order of commits only if they are taken
 * with all locks held. Tells the triggers of migrations/0023-payment-counters.ts that it counts payments itself.
 */
export async function writeBatch(
  tx: Tx,
  {
    changes,
    scattered,
    writes,
  }: { changes: Map<EventId, CounterChanges>; scattered: EventId[]; writes: (Write | undefined)[] },
): Promise<number> {
  const all = [...writes]
  for (const write of counterWrites) {
    // Usually one. If there are more, all but the last are sent on their own, so that they are not kept in memory.
    let last: Write | undefined
    for (const next of write(changes)) {
      await last?.execute(tx)
      last = next
    }
    all.push(last)
  }
  const named = all
    .filter(write => write !== undefined)
    .map((write, index) => sql`${names[index]} as (${write}),`)
  const { rows } = await sql<{ revision: number }>`
with revision as materialized (
  select nextval('revisions') as value, set_config('tally.counts_payments', 'on', true)
),
${sql.join(named, sql` `)}
stamped as (
  update event_heads
  set revision = (select value from revision), changed_at = now(),
    is_scattered = is_scattered or event_id = any(${scattered}::uuid[])
  where event_id = any(${[...changes.keys()]}::uuid[])
)
select value as revision from revision`.execute(tx)
  return (rows[0] as { revision: number }).revision
}

/** The write that adds changes to a counter that is stored row by row; none if nothing changes. */
function insertRows(name: CounterName): (changes: Map<EventId, CounterChanges>) => Write[] {
  const counter: Counter = counters[name]
  const insert = statement(insertText(counter))
  const isOwnFirst = Object.keys(counter.key)[0] === ownKeyOf(counter)
  const arrays = [...keyArrays(counter), ...amountArrays(counter)]
  return changes => {
    const rows = flattenAreas(changes, (area, place) =>
      sorted<OwnKey, Row>(area[name])
        .filter(([, row]) => !isZero(row))
        .map(([key, row]): ChangedRow => ({ ...place, key, row })),
    )
    if (rows.length === 0) return []
    if (isOwnFirst) rows.sort(byEventAndKey)
    return [insert(uuids(rows.map(({ eventId }) => eventId)), ...arrays.map(array => array(rows)))]
  }
}

/** The text that deletes the rows of an event in which no order counts. */
export const emptiedText = (counter: Counter): string =>
  `delete from ${counter.table} where event_id = $ and ${amountColumns(counter)
    .map(column => (counter.blocks === undefined ? `${column} = 0` : `0 = all(${column})`))
    .join(' and ')}`

const emptied = counterNames.map(name => statement(emptiedText(counters[name])))

/** Deletes them from all counters of a locked event: they take room (docs/records.md, Limits of an event). */
export async function deleteEmptied(tx: Tx, eventId: EventId): Promise<void> {
  for (const text of emptied) await text(eventId).execute(tx)
}

type ChangedRow = AreaKey & { key: OwnKey; row: Row }
type ToArray = (rows: ChangedRow[]) => Buffer

/** Within a key, days and areas stay as flattenAreas sorted them. */
function byEventAndKey(one: ChangedRow, other: ChangedRow): number {
  if (one.eventId !== other.eventId) return one.eventId < other.eventId ? -1 : 1
  return one.key < other.key ? -1 : one.key > other.key ? 1 : 0
}

/** The text that adds rows to the stored ones, with an array for each column. */
export function insertText(counter: Counter): string {
  const key = ['event_id', ...keyColumns(counter)]
  const amounts = amountColumns(counter)
  const types = [
    'uuid',
    ...Object.values(counter.key).map(type => sqlTypes[type]),
    ...Object.values(counter.amounts),
  ]
  return `
insert into ${counter.table} as stored (${[...key, ...amounts].join(', ')})
select * from unnest(${types.map(type => `$::${type}[]`).join(', ')})
on conflict (${key.join(', ')}) do update set
  ${amounts.map(column => `${column} = stored.${column} + excluded.${column}`).join(',\n  ')}`
}

const sqlTypes: Record<KeyType, string> = { int: 'int', time: 'bigint', text: 'text' }
/** The values are of the declared type. */
const arrayOf = { int: ints, time: bigints, text: texts } as Record<KeyType, (keys: OwnKey[]) => Buffer>

const keyArrays = ({ key }: Counter): ToArray[] =>
  Object.entries(key).map(([column, type]): ToArray => {
    if (column === 'day_id') return rows => ints(rows.map(({ dayId }) => dayId))
    if (column === 'area_id') return rows => ints(rows.map(({ areaId }) => areaId))
    const array = arrayOf[type]
    return rows => array(rows.map(({ key }) => key))
  })

const amountArrays = ({ amounts }: Counter): ToArray[] =>
  Object.entries(amounts).map(([name, type]): ToArray => {
    const array = type === 'bigint' ? bigints : ints
    return rows => array(rows.map(({ row }) => row[name] as number))
  })

/** Limits a write: if keys are far apart, each has its own block. */
const blocksPerWrite = 8_000

/**
 * The writes that add changes to a counter that is stored in blocks, each to different rows. A batch of thousands of
 * orders changes far fewer rows than with one row per menu item.
 */
function insertBlocks(name: CounterName): (changes: Map<EventId, CounterChanges>) => Generator<Write> {
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

/** Counter changes as rows, sorted by (event, day, area): neighbours in an index are written one after the other. */
function flattenAreas<Row>(
  changes: Map<EventId, CounterChanges>,
  toRows: (area: AreaChanges, key: AreaKey) => Row[],
): Row[] {
  return sorted(changes).flatMap(([eventId, days]) =>
    sorted(days).flatMap(([dayId, areas]) =>
      sorted(areas).flatMap(([areaId, area]) => toRows(area, { eventId, dayId, areaId })),
    ),
  )
}

/** The entries of a map by their keys, texts in the order of their UTF-16 units. */
function sorted<Key extends string | number, Value>(map: Map<Key, Value>): [Key, Value][] {
  return [...map].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
}

const isZero = (row: Row): boolean => Object.values(row).every(amount => amount === 0)

/** Of each counter, the writes that add changes to it, each to different rows. */
const counterWrites: ((changes: Map<EventId, CounterChanges>) => Iterable<Write>)[] = counterNames.map(
  name => ((counters[name] as Counter).blocks === undefined ? insertRows(name) : insertBlocks(name)),
)
