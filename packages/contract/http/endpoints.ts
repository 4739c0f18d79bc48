import { z } from 'zod'
import * as answers from './answers.ts'
import { dayMeta, envelope, eventMeta, listMeta, pageMeta } from './envelope.ts'
import * as parameters from './parameters.ts'

/** What a key may read (docs/api.md, Scopes). */
export const scope = z.enum(['events:read', 'analytics:read', 'orders:read'])
export type Scope = z.infer<typeof scope>

/** The nine endpoints (docs/api.md, Endpoints): address, scope, parameters and answer. */
export const endpoints = {
  listEvents: {
    url: '/api/v1/events',
    scope: 'events:read',
    summary: "All events of the key's organization",
    params: parameters.noParameters,
    query: parameters.noParameters,
    answer: envelope('EventListEnvelope', z.array(answers.eventAnswer), listMeta),
  },
  getEvent: {
    url: '/api/v1/events/:eventId',
    scope: 'events:read',
    summary: 'One event with its open day',
    params: parameters.eventPath,
    query: parameters.noParameters,
    answer: envelope('EventEnvelope', answers.eventAnswer, eventMeta),
  },
  getKpis: {
    url: '/api/v1/events/:eventId/analytics/kpis',
    scope: 'analytics:read',
    summary: 'Orders, sales and items of one day',
    params: parameters.eventPath,
    query: parameters.dayAndArea,
    answer: envelope('KpisEnvelope', answers.kpisAnswer, dayMeta),
  },
  getSalesTrend: {
    url: '/api/v1/events/:eventId/analytics/sales-trend',
    scope: 'analytics:read',
    summary: "Daily sales over the last dates of the event's days",
    params: parameters.eventPath,
    query: parameters.trendQuery,
    answer: envelope('SalesTrendEnvelope', z.array(answers.trendPoint), eventMeta),
  },
  getOrdersByHour: {
    url: '/api/v1/events/:eventId/analytics/orders/by-hour',
    scope: 'analytics:read',
    summary: 'Orders and revenue of one day by hour',
    params: parameters.eventPath,
    query: parameters.dayAndArea,
    answer: envelope('OrdersByHourEnvelope', z.array(answers.hourBucket), dayMeta),
  },
  getTopItems: {
    url: '/api/v1/events/:eventId/analytics/orders/top-items',
    scope: 'analytics:read',
    summary: 'What sells best, by quantity net of refunds',
    params: parameters.eventPath,
    query: parameters.topItemsQuery,
    answer: envelope('TopItemsEnvelope', z.array(answers.topItem), dayMeta),
  },
  getItemCounts: {
    url: '/api/v1/events/:eventId/live/item-counts',
    scope: 'analytics:read',
    summary: 'Portions sold per menu item, made for frequent polling',
    params: parameters.eventPath,
    query: parameters.itemCountsQuery,
    answer: envelope('ItemCountsEnvelope', z.array(answers.itemCount), dayMeta),
  },
  listOrders: {
    url: '/api/v1/events/:eventId/orders',
    scope: 'orders:read',
    summary: "The event's orders, newest first",
    params: parameters.eventPath,
    query: parameters.ordersQuery,
    answer: envelope('OrderListEnvelope', z.array(answers.orderAnswer), pageMeta),
  },
  getOrder: {
    url: '/api/v1/events/:eventId/orders/:id',
    scope: 'orders:read',
    summary: 'One order',
    params: parameters.orderPath,
    query: parameters.noParameters,
    answer: envelope('OrderEnvelope', answers.orderAnswer, eventMeta),
  },
} as const satisfies Record<string, Endpoint>

export type Endpoint = {
  url: string
  scope: Scope
  summary: string
  params: z.ZodObject
  query: z.ZodObject
  answer: z.ZodType
}
export type EndpointName = keyof typeof endpoints
