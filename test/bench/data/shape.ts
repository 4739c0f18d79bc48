/** What a data set looks like; with its seed it is the same records every time. */
export type Shape = {
  seed: number
  /** How many orders each event has; the list's length is the number of events. */
  ordersByEvent: number[]
  /** Days of each event, of which the last is open; 5 by default. */
  days?: number
  /** Events of each organization; 10 by default. */
  eventsOfAnOrganization?: number
  /** Menu items of each event; 80 by default. */
  menuItems?: number
  /** Partitions of the topics of events, orders and refunds; 6 by default. */
  partitions?: number
  /** A bad record lies behind each order record, on its partition. */
  hasBad?: boolean
}

export const areas = [1, 2, 3, 4, 5]
/** How many days, and how many menu items, each event has; their ids count from 1. */
export const daysOf = ({ days = 5 }: Shape): number => days
export const menuItemsOf = ({ menuItems = 80 }: Shape): number => menuItems

export const partitionsOf = ({ partitions = 6 }: Shape): number => partitions

/** The default data set: this many orders (200,000 by default), spread evenly over 40 events. */
export function evenShape(seed: number, orders: number, events = 40): Shape {
  const share = (index: number) => Math.floor((orders * (index + 1)) / events)
  return {
    seed,
    ordersByEvent: Array.from({ length: events }, (_, index) => share(index) - share(index - 1)),
  }
}

/** Which organization an event belongs to, as its number. */
export const organizationOf = ({ eventsOfAnOrganization = 10 }: Shape, event: number): number =>
  Math.floor(event / eventsOfAnOrganization)

/** Whether an order comes a second time, changed: every other one, so that 200,000 orders are 300,000 records. */
export const isChanged = (event: number, order: number): boolean => (event + order) % 2 === 0

/** Whether an order has a refund: 9 of 200, spread over the event. 77 and 200 have no common factor. */
export const isRefunded = (event: number, order: number): boolean => (order * 77 + event * 13) % 200 < 9
