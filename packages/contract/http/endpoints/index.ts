import type { Endpoint } from '../endpoint.ts'
import { getEvent } from './getEvent.ts'
import { getItemCounts } from './getItemCounts.ts'
import { getKpis } from './getKpis.ts'
import { getOrder } from './getOrder.ts'
import { getOrdersByHour } from './getOrdersByHour.ts'
import { getSalesTrend } from './getSalesTrend.ts'
import { getTopItems } from './getTopItems.ts'
import { listEvents } from './listEvents.ts'
import { listOrders } from './listOrders.ts'

export type { EventAnswer } from './getEvent.ts'
export type { ItemCount } from './getItemCounts.ts'
export { type KpisAnswer, kpisFields } from './getKpis.ts'
export type { OrderAnswer } from './getOrder.ts'
export { type HourBucket, hourFields } from './getOrdersByHour.ts'
export type { TrendPoint } from './getSalesTrend.ts'
export type { TopItem } from './getTopItems.ts'

/** The endpoints of the API by name, in the order of the OpenAPI document. */
export const endpoints = {
  listEvents,
  getEvent,
  getKpis,
  getSalesTrend,
  getOrdersByHour,
  getTopItems,
  getItemCounts,
  listOrders,
  getOrder,
} satisfies Record<string, Endpoint>

export type EndpointName = keyof typeof endpoints
export const endpointNames = Object.keys(endpoints) as EndpointName[]
