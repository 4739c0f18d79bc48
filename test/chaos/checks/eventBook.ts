// biome-ignore lint/suspicious/noExplicitAny: raw records, on purpose without the product's types
export type Raw = any

/** What has been said of one event: the winning version of the event, of each order and of each refund. */
export type EventBook = {
  event: Raw | undefined
  orders: Map<string, Raw>
  refunds: Map<string, Raw>
  /** Grows with each record. */
  records: number
}
