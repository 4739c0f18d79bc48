import type { EventId } from '@tally/contract'
import type { CounterChanges, ItemChange } from '@tally/core'
import { bigintsAt, ints, uuids } from '@tally/storage'
import { sql } from 'kysely'
import { type AreaKey, flattenAreas } from '../counterRows.ts'
import type { Write } from '../write.ts'
import { itemColumns, itemsPerBlock, places } from './table.ts'

/** Limits a write: if ids are far apart, each item has its own block of sixteen numbers. */
const blocksPerWrite = 8_000

/** The writes that add changes to the item counters, each to different rows. */
export function* addItems(changes: Map<EventId, CounterChanges>): Generator<Write> {
  for (const blocks of blocksOf(changes)) yield addBlocks(blocks)
}

function addBlocks({ rows, positions, changes }: Blocks): Write {
  const column = (pick: (change: ItemChange) => number) =>
    bigintsAt(rows.length * itemsPerBlock, positions, changes, pick)
  return sql`
insert into item_counters as stored (event_id, day_id, area_id, block, ${columnNames})
select event_id, day_id, area_id, block, ${numbersOfBlock}
from
  (
    select
      ${column(({ orders }) => orders)}::bigint[] as orders,
      ${column(({ quantity }) => quantity)}::bigint[] as quantity,
      ${column(({ grossCents }) => grossCents)}::bigint[] as gross_cents,
      ${column(({ refundedQuantity }) => refundedQuantity)}::bigint[] as refunded_quantity,
      ${column(({ refundedCents }) => refundedCents)}::bigint[] as refunded_cents
  ) as all_blocks,
  unnest(
    ${uuids(rows.map(({ key }) => key.eventId))}::uuid[],
    ${ints(rows.map(({ key }) => key.dayId))}::int[],
    ${ints(rows.map(({ key }) => key.areaId))}::int[],
    ${ints(rows.map(({ block }) => block))}::int[]
  ) with ordinality as place (event_id, day_id, area_id, block, number)
on conflict (event_id, day_id, area_id, block) do update set ${sums}`
}

const columnNames = sql.join(itemColumns.map(column => sql.id(column)))

/** The slice of block `number` from the concatenated numbers of all blocks. */
const numbersOfBlock = sql.join(
  itemColumns.map(column => sql`${sql.id(column)}[(number - 1) * 16 + 1 : number * 16]`),
)

/** Written out item by item: Postgres cannot add two arrays, and a function would be called for each row. */
const sums = sql.join(
  itemColumns.map(column => {
    const name = sql.id(column)
    const items = places.map(place => sql`stored.${name}[${place}] + excluded.${name}[${place}]`)
    return sql`${name} = array[${sql.join(items)}]`
  }),
)

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

function isEmpty({ orders, quantity, grossCents, refundedQuantity, refundedCents }: ItemChange): boolean {
  return orders === 0 && quantity === 0 && grossCents === 0 && refundedQuantity === 0 && refundedCents === 0
}
