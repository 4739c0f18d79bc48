import type { EventId } from '@tally/contract'
import type { Database } from '@tally/platform'
import type { Kysely } from 'kysely'
import { type CounterChanges, noAreaChanges } from '../counting/changes.ts'
import type { Counter, OwnKey, Row } from '../counting/counter.ts'
import { counterNames, counters } from '../counting/counters.ts'
import { getOrInsertComputed } from '../counting/getOrInsertComputed.ts'
import { amountColumns, columnOf, ownKeyOf } from './columns.ts'
import { statement } from './statement.ts'

type ScannedRow = Row & { dayId: number; areaId: number; key: OwnKey }

const scans = counterNames.map(name => ({ name, scan: statement<ScannedRow>(scanText(counters[name])) }))

/** All stored counters of an event, as the changes that would lead to them from zero. */
export async function readCounters(db: Kysely<Database>, eventId: EventId): Promise<CounterChanges> {
  const stored: CounterChanges = new Map()
  for (const { name, scan } of scans) {
    const { rows } = await scan(eventId).execute(db)
    for (const { dayId, areaId, key, ...row } of rows) {
      const areas = getOrInsertComputed(stored, dayId, () => new Map())
      const area = getOrInsertComputed(areas, areaId, noAreaChanges)
      Object.assign(area[name].at(key), row)
    }
  }
  return stored
}

/** The text that reads all rows of an event, under the names of the amounts. */
export function scanText(counter: Counter): string {
  const amounts = Object.keys(counter.amounts).map(name => `counted.${columnOf(name)} as "${name}"`)
  const [key, from] =
    counter.blocks === undefined
      ? [ownKeyOf(counter) ?? '0', `${counter.table} as counted`]
      : ['counted.key', `${counter.table} as counter cross join ${rowsOfBlock(counter)}`]
  return `
select day_id as "dayId", area_id as "areaId", ${key} as key, ${amounts.join(', ')}
from ${from}
where event_id = $`
}

/** The rows of a block one by one, without those of zeros. Indexes of arrays start at 1. */
function rowsOfBlock(counter: Counter): string {
  const { size = 1 } = counter.blocks ?? {}
  const columns = amountColumns(counter)
  const list = columns.join(', ')
  return `lateral (
  select counter.block * ${size} + (place::int - 1) as key, ${list}
  from unnest(${columns.map(column => `counter.${column}`).join(', ')}) with ordinality as one (${list}, place)
  where (${list}) <> (${columns.map(() => '0').join(', ')})
) as counted`
}
