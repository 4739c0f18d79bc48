import type { EventId } from '@tally/contract'
import { bigints, ints, texts, uuids } from '@tally/platform'
import type { CounterChanges } from '../counting/changes.ts'
import type { Counter, KeyType, OwnKey, Row } from '../counting/counter.ts'
import { type CounterName, counters } from '../counting/counters.ts'
import { amountColumns, keyColumns, ownKeyOf } from './columns.ts'
import { type AreaKey, flattenAreas, isZero, sorted } from './rows.ts'
import { statement } from './statement.ts'
import type { Write } from './write.ts'

/** The write that adds changes to a counter that is stored row by row; none if nothing changes. */
export function insertRows(name: CounterName): (changes: Map<EventId, CounterChanges>) => Write[] {
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
