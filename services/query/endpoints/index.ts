import type { EndpointRead } from './endpoint.ts'
import { getEvent } from './getEvent.ts'
import { getItemCounts } from './getItemCounts.ts'
import { getKpis } from './getKpis.ts'
import { getOrder } from './getOrder.ts'
import { getOrdersByHour } from './getOrdersByHour.ts'
import { getSalesTrend } from './getSalesTrend.ts'
import { getTopItems } from './getTopItems.ts'
import { listEvents } from './listEvents.ts'
import { listOrders } from './listOrders.ts'

export const endpointReads: EndpointRead[] = [
  listEvents,
  getEvent,
  getKpis,
  getSalesTrend,
  getOrdersByHour,
  getTopItems,
  getItemCounts,
  listOrders,
  getOrder,
]
