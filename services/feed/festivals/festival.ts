/** One festival as data: who runs it, what it sells, when its guests come. Weights are relative to each other. */
export type Festival = {
  organizationId: string
  organizationName: string
  organizationStatus: 'Trial' | 'ActiveDayPass'
  eventName: string
  timeZone: string
  /** Its part of all orders of an evening. */
  weight: number
  /** Local clock times as `HH:MM`; hours from 24 are the small hours of the next day. */
  opens: string
  lastOrders: string
  /** The crowd through the evening: a bell round each peak, above a thin stream that never stops. */
  peaks: readonly { at: string; spreadMinutes: number; weight: number }[]
  areas: readonly Area[]
  menu: readonly Category[]
  paymentMethods: readonly { name: string; weight: number; isCash: boolean }[]
  /** Paid per guest at a table, in cents; it is part of totalAmount and of no line. */
  coverChargeCents: number
  /** The share of orders that are placed ahead in the festival's app. */
  preOrders: number
  takeaway: number
  /** On dishes and drinks, not on deposits. */
  discounts: readonly { percent: number; weight: number }[]
  /** Null: no drink comes in a cup that is lent. */
  deposit: Deposit | null
  /** Takes money off an order as a line of its own, with a price below zero. Null: there are no vouchers. */
  voucher: Item | null
  notes: readonly string[]
}

/** `letter` begins the order ids of the area; a counter serves at once, others cook first. */
export type Area = {
  areaId: number
  name: string
  letter: string
  weight: number
  tables: number
  service: { kind: 'counter' } | { kind: 'cooked'; minutes: number }
}

/** An item that tills put on a bill of their own accord; its id follows those of the menu. */
type Item = { name: string; categoryName: string; cents: number }

/**
 * The cups that the drinks in `cupOf` (names of the menu) are lent in. Tills write a cup that comes back as a line with
 * a quantity below zero, or as one with a price below zero; both are common (docs/records.md, Order). Some have an item
 * of its own for it, `returnedAs`.
 */
type Deposit = Item & { cupOf: readonly string[]; isReturnedBy: 'quantity' | 'price'; returnedAs?: string }

/** `soldAt` names areas by id; dishes are name, price in cents, weight. Ids count from 1 over the whole menu. */
type Category = {
  name: string
  soldAt: readonly number[]
  dishes: readonly (readonly [name: string, cents: number, weight: number])[]
}
