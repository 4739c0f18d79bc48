import type { EventId } from '@tally/contract'
import type { CounterChanges, ItemChange } from '@tally/core'
import { sql } from 'kysely'
import { type AreaKey, flattenAreas } from '../counterRows.ts'
import { bigints, ints, uuids } from '../postgres/binaryArrays.ts'
import type { Write } from '../writeBatch.ts'
import { itemColumns, itemsABlock, places } from './table.ts'

/** Blocks that one write holds at once: where ids lie far apart each item has a block of its own, of sixteen numbers. */
const blocksAWrite = 8_000

/** The writes that add changes to the item counters, of rows that differ; none where nothing changes. */
export function* addItems(changes: Map<EventId, CounterChanges>): Generator<Write> {
  const blocks = flattenAreas(changes, ({ items }, key) => blocksOf(items, key))
  for (let from = 0; from < blocks.length; from += blocksAWrite)
    yield addBlocks(blocks.slice(from, from + blocksAWrite))
}

function addBlocks(blocks: Block[]): Write {
  const column = (pick: (change: ItemChange) => number) => bigints(laidOut(blocks, pick))
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
    ${uuids(blocks.map(({ eventId }) => eventId))}::uuid[],
    ${ints(blocks.map(({ dayId }) => dayId))}::int[],
    ${ints(blocks.map(({ areaId }) => areaId))}::int[],
    ${ints(blocks.map(({ block }) => block))}::int[]
  ) with ordinality as place (event_id, day_id, area_id, block, number)
on conflict (event_id, day_id, area_id, block) do update set ${sums}`
}

const columnNames = sql.join(itemColumns.map(column => sql.id(column)))

/** Of the numbers of all blocks, one after the other, those of block `number`. */
const numbersOfBlock = sql.join(
  itemColumns.map(column => sql`${sql.id(column)}[(number - 1) * 16 + 1 : number * 16]`),
)

/** Item by item, written out: Postgres has no sum of two arrays, and a function would be called for each. */
const sums = sql.join(
  itemColumns.map(column => {
    const name = sql.id(column)
    const items = places.map(place => sql`stored.${name}[${place}] + excluded.${name}[${place}]`)
    return sql`${name} = array[${sql.join(items)}]`
  }),
)

type Block = AreaKey & { block: number; items: [menuItemId: number, change: ItemChange][] }

/** The changed items of one (day, area) by block, in the order of the blocks. */
function blocksOf(items: Map<number, ItemChange>, key: AreaKey): Block[] {
  const blocks = new Map<number, Block>()
  for (const [menuItemId, change] of items) {
    if (isEmpty(change)) continue
    const block = Math.floor(menuItemId / itemsABlock)
    const found = blocks.get(block)
    if (found === undefined) blocks.set(block, { ...key, block, items: [[menuItemId, change]] })
    else found.items.push([menuItemId, change])
  }
  return [...blocks.values()].sort((one, other) => one.block - other.block)
}

/** One number for each item of each block; 0 for those that do not change. */
function laidOut(blocks: Block[], pick: (change: ItemChange) => number): number[] {
  const numbers = new Array<number>(blocks.length * itemsABlock).fill(0)
  for (const [index, { items }] of blocks.entries()) {
    for (const [menuItemId, change] of items)
      numbers[index * itemsABlock + (menuItemId % itemsABlock)] = pick(change)
  }
  return numbers
}

function isEmpty({ orders, quantity, grossCents, refundedQuantity, refundedCents }: ItemChange): boolean {
  return orders === 0 && quantity === 0 && grossCents === 0 && refundedQuantity === 0 && refundedCents === 0
}
