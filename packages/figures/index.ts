export type { Counter, OwnKey, Row } from './counting/counter.ts'
export * from './counting/counters.ts'
export * from './counting/facts.ts'
export * from './documents.ts'
export * from './events/list.ts'
export * from './events/reader.ts'
export * from './events/sizes.ts'
export * from './events/writer.ts'
export * from './models/hours.ts'
export * from './models/items.ts'
export * from './models/kpis.ts'
export * from './models/payments.ts'
export * from './orders/dayOrders.ts'
export * from './orders/itemHours.ts'
export * from './orders/known.ts'
export * from './orders/reader.ts'
export * from './orders/scan.ts'
export { type OrderParts, storeNewOrders, storeOrders } from './orders/table.ts'
export * from './organizations.ts'
export * from './refunds.ts'
export * from './tables/reader.ts'
export {
  amountColumns,
  columnOf,
  counterTables,
  keyColumns,
  TooMuchStoredError,
  type Write,
} from './tables/statement.ts'
export { deleteEmptied, writeBatch } from './tables/writeBatch.ts'
export * from './time.ts'
