/** The paths of an event's endpoints that need no id, below `/api/v1/events/{eventId}`. */
export const eventPaths = [
  '',
  '/analytics/kpis',
  '/analytics/sales-trend',
  '/analytics/orders/by-hour',
  '/analytics/orders/top-items',
  '/live/item-counts',
  '/orders',
]
