import { formatTimestamp, type Order, type OrderAnswer, type OrderStatus, toEuros } from '@tally/contract'
import { bigints, booleans, ints, jsons, texts, uuids } from '@tally/platform'
import { effectiveCents } from '../counting/facts.ts'
import { statement, type Write } from '../tables/statement.ts'

type Column<Name extends string, Stored> = {
  column: Name
  /** What is stored of an order's record. */
  of(order: Order): Stored
  /** The column of these orders as Postgres reads an array, and the expression of a select list that unnests it. */
  array(orders: Order[]): Buffer
  unnested: string
}
const column =
  <Stored>(toArray: (values: Stored[]) => Buffer, unnested: string) =>
  <Name extends string, Of extends Stored>(column: Name, of: (order: Order) => Of): Column<Name, Of> => ({
    column,
    of,
    array: orders => toArray(orders.map(of)),
    unnested,
  })
const uuid = column(uuids, 'unnest($::uuid[])')
const text = column(texts, 'unnest($::text[])')
const status = column(texts, 'unnest($::text[])::order_status')
const int = column(ints, 'unnest($::int[])')
const bigint = column(bigints, 'unnest($::bigint[])')
const boolean = column(booleans, 'unnest($::boolean[])')
const json = column(jsons, 'unnest($::json[])')

/**
 * Where each field of an order's record is stored. Its statements and the types of its rows follow from this list;
 * `toAnswer` below says how it is answered, `known.ts` which of them are counted.
 */
const recordColumns = {
  eventId: uuid('event_id', order => order.eventId),
  orderId: text('order_id', order => order.orderId),
  version: bigint('version', order => order.version),
  status: status('status', order => order.status),
  dayId: int('day_id', order => order.dayId),
  areaId: int('area_id', order => order.areaId),
  orderDateTime: bigint('ordered_at', order => order.orderDateTime),
  displayOrderNumber: text('display_number', order => order.displayOrderNumber),
  paymentMethod: text('payment_method', order => order.paymentMethod),
  amountPaid: bigint('paid_cents', order => order.amountPaid),
  totalAmount: bigint('total_cents', order => order.totalAmount),
  isTakeaway: boolean('takeaway', order => order.isTakeaway),
  tableNumber: text('table_number', order => order.tableNumber),
  items: json('lines', order => linesAsAnswered(order)),
} satisfies { [Field in keyof Order]: Column<string, unknown> }

type Columns = (typeof recordColumns)[keyof Order]
/** The type of a value without its brand. */
type Plain<Value> = Value extends OrderStatus | boolean | null
  ? Value
  : Value extends number
    ? number
    : string
/** The columns that an order's record fills. */
type OwnColumns = { [One in Columns as One['column']]: Plain<ReturnType<One['of']>> }

const others = (except: Columns['column'][]) =>
  Object.entries(recordColumns).filter(([, { column }]) => !except.includes(column))

/** All columns that an order's record fills but those of `except`, as a list of SQL. */
export const columnsBut = (...except: Columns['column'][]): string =>
  others(except)
    .map(([, { column }]) => column)
    .join(', ')

/** The same columns under the names of their fields. */
export const fieldsBut = (...except: Columns['column'][]): string =>
  others(except)
    .map(([field, { column }]) => `${column} as "${field}"`)
    .join(', ')

/**
 * Inserts orders. The arrays are unnested in the select list, which Postgres reads row by row: as a function in `from`,
 * each array is first copied to a tuple store of its own (3.2 instead of 0.8 µs per order).
 */
export const insertOrdersText = `
insert into orders (${columnsBut()})
select ${others([])
  .map(([, { unnested }]) => unnested)
  .join(', ')}`

/** Replaces what is stored of an order by its record; the sums of its refunds stay. */
export const replaceOrdersText = `
on conflict (event_id, order_id) do update set
  ${others(['event_id', 'order_id'])
    .map(([, { column }]) => `${column} = excluded.${column}`)
    .join(', ')}`

/** The lines as the API answers them (docs/api.md, Fields), in the record's order. */
function linesAsAnswered({ items }: Order): string {
  return JSON.stringify(
    items.map(({ menuItemId, itemName, quantity, unitPrice, note }) => ({
      menuItemId,
      itemName,
      quantity,
      unitPrice: toEuros(unitPrice),
      note,
    })),
  )
}

/** What `toAnswer` takes of a row, without the columns of its key that the answer does not have. */
export type AnsweredRow = Omit<OwnColumns, 'event_id' | 'version'> & { refunded_cents: number }

/** The JSON of an order in parts, of which one may be megabytes. */
export type OrderParts = readonly string[]

/** The JSON of an order (docs/api.md, Fields); its lines are stored in the form of the answer. */
export function toAnswer(row: AnsweredRow): OrderParts {
  const order = {
    id: row.order_id,
    displayOrderNumber: row.display_number,
    status: row.status,
    areaId: row.area_id,
    dayId: row.day_id,
    orderDateTime: formatTimestamp(row.ordered_at),
    paymentMethod: row.payment_method,
    amountPaid: toEuros(row.paid_cents),
    totalAmount: toEuros(row.total_cents),
    effectiveAmount: toEuros(effectiveCents(row.total_cents, row.refunded_cents)),
    isTakeaway: row.takeaway,
    tableNumber: row.table_number,
  } satisfies Omit<OrderAnswer, 'items'>
  return [`${JSON.stringify(order).slice(0, -1)},"items":`, row.lines, '}']
}

const arrays = Object.values(recordColumns).map(({ array }) => array)
const insert = statement(insertOrdersText)
const insertOrReplace = statement(insertOrdersText + replaceOrdersText)

/** The write that stores orders at their winning version, each order at most once; the sums of their refunds stay. */
export function storeOrders(orders: Order[]): Write | undefined {
  return orders.length === 0 ? undefined : insertOrReplace(...arrays.map(array => array(orders)))
}

/** The same for orders not stored yet, of locked events: without the check for conflicts it takes two thirds. */
export function storeNewOrders(orders: Order[]): Write | undefined {
  return orders.length === 0 ? undefined : insert(...arrays.map(array => array(orders)))
}
