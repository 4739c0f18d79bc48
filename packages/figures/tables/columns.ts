import type { Counter } from '../counting/counter.ts'
import { counterNames, counters } from '../counting/counters.ts'

const placeColumns = ['day_id', 'area_id']

/** The column of an amount: ready_for_pickup for `ReadyForPickup`, sales_cents for `salesCents`. */
export const columnOf = (amount: string): string =>
  amount.replace(/[A-Z]/g, (letter, index) => `${index === 0 ? '' : '_'}${letter.toLowerCase()}`)

/** The columns of a counter's amounts, in their order. */
export const amountColumns = ({ amounts }: Counter): string[] => Object.keys(amounts).map(columnOf)

/** The name of a counter's own key, if it has one: the column of it, unless it is stored in blocks. */
export const ownKeyOf = ({ key }: Counter): string | undefined =>
  Object.keys(key).find(column => !placeColumns.includes(column))

/** The columns of a counter's primary key after `event_id`. Blocks are keyed by their number. */
export const keyColumns = (counter: Counter): string[] =>
  Object.keys(counter.key).map(column =>
    counter.blocks !== undefined && column === ownKeyOf(counter) ? 'block' : column,
  )

/** The table of each counter. */
export const counterTables: string[] = counterNames.map(name => counters[name].table)
