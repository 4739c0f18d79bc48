import type { EventId } from '@tally/contract'
import type { CounterChanges, ItemChange } from '@tally/core'
import { bigintsAt, ints, uuids } from '@tally/storage'
import { type RawBuilder, sql } from 'kysely'
import { type AreaKey, flattenAreas } from '../counterRows.ts'
import type { Write } from '../write.ts'
import { type ItemColumn, itemsPerBlock, places } from './table.ts'

/** Limits a write: if ids are far apart, each item has its own block of sixteen numbers. */
const blocksPerWrite = 8_000

/** The writes that add changes to the item counters, each to different rows. */
export function* addItems(changes: Map<EventId, CounterChanges>): Generator<Write> {
  for (const blocks of blocksOf(changes)) yield addBlocks(blocks)
}

/** Updates the columns of refunds only if one of their counters changes: Postgres needs less time without them. */
function addBlocks({ rows, positions, changes }: Blocks): Write {
  const updated = changes.some(changesRefunds) ? columns : columns.filter(({ isOfRefunds }) => !isOfRefunds)
  const numbers = ({ of }: Column) => bigintsAt(rows.length * itemsPerBlock, positions, changes, of)
  return sql`
insert into item_counters as stored (event_id, day_id, area_id, block, ${sql.join(columns.map(({ name }) => name))})
select event_id, day_id, area_id, block,
  ${sql.join(columns.map(column => (updated.includes(column) ? column.block : sixteenZeros)))}
from
  (select ${sql.join(updated.map(column => sql`${numbers(column)}::bigint[] as ${column.name}`))}) as all_blocks,
  unnest(
    ${uuids(rows.map(({ key }) => key.eventId))}::uuid[],
    ${ints(rows.map(({ key }) => key.dayId))}::int[],
    ${ints(rows.map(({ key }) => key.areaId))}::int[],
    ${ints(rows.map(({ block }) => block))}::int[]
  ) with ordinality as place (event_id, day_id, area_id, block, number)
on conflict (event_id, day_id, area_id, block) do update set ${sql.join(updated.map(({ sums }) => sums))}`
}

/** `block`: block `number` as a slice of the concatenated numbers of all blocks; `sums`: it added to what is stored. */
type Column = {
  name: RawBuilder<unknown>
  of: (change: ItemChange) => number
  isOfRefunds: boolean
  block: RawBuilder<unknown>
  sums: RawBuilder<unknown>
}

const columns = [
  columnOf('orders', ({ orders }) => orders),
  columnOf('quantity', ({ quantity }) => quantity),
  columnOf('gross_cents', ({ grossCents }) => grossCents),
  columnOf('refunded_quantity', ({ refundedQuantity }) => refundedQuantity, true),
  columnOf('refunded_cents', ({ refundedCents }) => refundedCents, true),
]

function columnOf(column: ItemColumn, of: Column['of'], isOfRefunds = false): Column {
  const name = sql.id(column)
  // Written out item by item: Postgres cannot add two arrays, and a function would be called for each row.
  const items = places.map(place => sql`stored.${name}[${place}] + excluded.${name}[${place}]`)
  return {
    name,
    of,
    isOfRefunds,
    block: sql`${name}[(number - 1) * 16 + 1 : number * 16]`,
    sums: sql`${name} = array[${sql.join(items)}]`,
  }
}

const sixteenZeros = sql`array_fill(0::bigint, array[16])`

/** Blocks in the order of their rows: `changes[n]` goes to index `positions[n]` of the concatenated numbers. */
type Blocks = { rows: { key: AreaKey; block: number }[]; positions: number[]; changes: ItemChange[] }

const noBlocks = (): Blocks => ({ rows: [], positions: [], changes: [] })

/** The changed items by block, ordered by (event, day, area, block), in portions of at most `blocksPerWrite`. */
function* blocksOf(changes: Map<EventId, CounterChanges>): Generator<Blocks> {
  let blocks = noBlocks()
  for (const { key, items } of flattenAreas(changes, ({ items }, key) => [{ key, items }])) {
    let last: number | undefined
    for (const menuItemId of [...items.keys()].sort(byNumber)) {
      const change = items.get(menuItemId) as ItemChange
      if (isEmpty(change)) continue
      const block = Math.floor(menuItemId / itemsPerBlock)
      if (block !== last && blocks.rows.length === blocksPerWrite) {
        yield blocks
        blocks = noBlocks()
      }
      if (block !== last) blocks.rows.push({ key, block })
      last = block
      blocks.positions.push((blocks.rows.length - 1) * itemsPerBlock + (menuItemId % itemsPerBlock))
      blocks.changes.push(change)
    }
  }
  if (blocks.rows.length > 0) yield blocks
}

const byNumber = (one: number, other: number) => one - other

function isEmpty(change: ItemChange): boolean {
  return change.orders === 0 && change.quantity === 0 && change.grossCents === 0 && !changesRefunds(change)
}

function changesRefunds({ refundedQuantity, refundedCents }: ItemChange): boolean {
  return refundedQuantity !== 0 || refundedCents !== 0
}
