import type { EndpointName } from '@tally/contract'
import { getEvent } from './getEvent.ts'
import { getItemCounts } from './getItemCounts.ts'
import { getKpis } from './getKpis.ts'
import { getOrder } from './getOrder.ts'
import { getOrdersByHour } from './getOrdersByHour.ts'
import { getSalesTrend } from './getSalesTrend.ts'
import { getTopItems } from './getTopItems.ts'
import type { Handler } from './handler.ts'
import { listEvents } from './listEvents.ts'
import { listOrders } from './listOrders.ts'

/** How each endpoint of the contract is answered. */
export const handlers: { [Name in EndpointName]: Handler<Name> } = {
  listEvents,
  getEvent,
  getKpis,
  getSalesTrend,
  getOrdersByHour,
  getTopItems,
  getItemCounts,
  listOrders,
  getOrder,
}
