import { type OrderStatus, orderStatuses } from '@tally/contract'
import type { OrderFacts } from './facts.ts'

/** Signed amounts by name: what to add to a stored row, or what it has. Money in cents. */
export type Row<Amount extends string = string> = Record<Amount, number>

/** The types of key columns; a `time` is a bigint of epoch milliseconds. */
export type KeyType = 'int' | 'time' | 'text'
/** The own key of a row of a counter: a text if the declared key has one. */
export type OwnKey = number | string

/**
 * A counter of orders: a table with a row per event, day, area and, in most, a key of its own. This is all that is said
 * of it by hand. Its SQL (packages/figures/tables), its repair (packages/repair/recount.ts) and their tests follow from
 * it; the column of an amount is its name in snake case.
 */
export type Counter<Amount extends string = string, Own extends OwnKey = OwnKey> = {
  readonly table: string
  /** The columns of the primary key after `event_id`, in their order. */
  readonly key: Readonly<Record<string, KeyType>>
  /** In the order of the columns, which follow those of the key. */
  readonly amounts: Readonly<Record<Amount, 'int' | 'bigint'>>
  /**
   * Stores `size` neighbouring keys in one row, as arrays: for keys that are close together. `seldom`: amounts that
   * most batches do not change; such a batch leaves their arrays alone, because Postgres then needs less time.
   */
  readonly blocks?: { readonly size: number; readonly seldom: readonly NoInfer<Amount>[] }
  /** Adds what one order states to the rows of a (day, area), or with sign -1 takes it away. Sums only. */
  count(rows: Rows<Amount, Own>, facts: OrderFacts, sign: 1 | -1): void
}

/** Rows of a counter in one (day, area), by its own key; that of a counter without one is 0. */
export type ByKey<Amount extends string, Own extends OwnKey = OwnKey> = Iterable<
  readonly [key: Own, row: Row<Amount>]
>

/** The rows of this counter, for what only reads them. */
export type RowsIn<Of> = Of extends Counter<infer Amount, infer Own> ? ByKey<Amount, Own> : never

type OwnKeyOf<Key extends Record<string, KeyType>> = 'text' extends Key[keyof Key] ? string : number

/** Infers the names of the amounts, and the type of the own key. */
export const counter = <Amount extends string, const Key extends Record<string, KeyType>>(
  declared: Counter<Amount, OwnKeyOf<Key>> & { readonly key: Key },
): Counter<Amount, OwnKeyOf<Key>> => declared

/** An amount for each status. */
export const byStatus = <const Type>(type: Type): Record<OrderStatus, Type> =>
  Object.fromEntries(orderStatuses.map(status => [status, type])) as Record<OrderStatus, Type>

/**
 * The rows of a counter in one (day, area), by its own key. Most of an order's counting is spent here: a row that is
 * kept in `single` saves 20 ns of 450.
 */
export class Rows<Amount extends string = string, Own extends OwnKey = OwnKey> extends Map<Own, Row<Amount>> {
  private readonly zero: () => Row<Amount>
  private single: Row<Amount> | undefined

  constructor(zero: () => Row<Amount>) {
    super()
    this.zero = zero
  }

  /** The row of a key; one of zeros if there was none. */
  at(key: Own): Row<Amount> {
    const row = this.get(key)
    return row === undefined ? this.add(key) : row
  }

  /** The row of a counter without an own key, which has key 0. */
  only(): Row<Amount> {
    this.single ??= this.at(0 as Own)
    return this.single
  }

  private add(key: Own): Row<Amount> {
    const row = this.zero()
    this.set(key, row)
    return row
  }
}
