import type { operations } from './openapi.ts'

/** The nine operations: their paths, as types and at run time. */
export const paths = {
  listEvents: '/api/v1/events',
  getEvent: '/api/v1/events/{eventId}',
  getKpis: '/api/v1/events/{eventId}/analytics/kpis',
  getSalesTrend: '/api/v1/events/{eventId}/analytics/sales-trend',
  getOrdersByHour: '/api/v1/events/{eventId}/analytics/orders/by-hour',
  getTopItems: '/api/v1/events/{eventId}/analytics/orders/top-items',
  getItemCounts: '/api/v1/events/{eventId}/live/item-counts',
  listOrders: '/api/v1/events/{eventId}/orders',
  getOrder: '/api/v1/events/{eventId}/orders/{id}',
} as const satisfies Record<keyof operations, string>

export type OperationName = keyof operations

type Fields<Part> = [Part] extends [never] ? unknown : Part extends object ? Part : unknown
type Query<Name extends OperationName> = operations[Name]['parameters'] extends { query?: infer Part }
  ? Fields<Part>
  : unknown
type Path<Name extends OperationName> = operations[Name]['parameters'] extends { path: infer Part }
  ? Fields<Part>
  : unknown

/** The parameters of an operation, of its path and query together. A list of ids is also taken as an array. */
export type Parameters<Name extends OperationName> = WithArrays<Path<Name> & Query<Name>>
type WithArrays<Part> = {
  [Key in keyof Part]: Key extends 'menuItemIds' ? Part[Key] | readonly number[] : Part[Key]
}

/** A successful answer: `data` and `meta`. */
export type Answer<Name extends OperationName> =
  operations[Name]['responses'][200]['content']['application/json']

/** The path and query of a request. */
export function pathOf(name: OperationName, parameters: object): string {
  const query = new URLSearchParams()
  let path: string = paths[name]
  for (const [key, value] of Object.entries(parameters)) {
    if (value === undefined) continue
    if (path.includes(`{${key}}`)) path = path.replace(`{${key}}`, encodeURIComponent(String(value)))
    else query.set(key, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}
