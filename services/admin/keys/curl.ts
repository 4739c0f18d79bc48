import type { ApiKey } from '@tally/access'
import type { EventId } from '@tally/contract'

/** The most useful path that the key's scopes allow. */
function pathOf({ scopes, eventId }: ApiKey, anyEvent: EventId | undefined): string {
  const event = eventId ?? anyEvent ?? 'EVENT_ID'
  if (scopes.includes('analytics:read')) return `/api/v1/events/${event}/live/item-counts`
  if (scopes.includes('orders:read')) return `/api/v1/events/${event}/orders`
  return '/api/v1/events'
}

/** The command that calls the API with a new key; `anyEvent` is used if the key is not bound to an event. */
export function curlLine(apiUrl: string, key: ApiKey, token: string, anyEvent: EventId | undefined): string {
  return `curl -H 'X-Api-Key: ${token}' ${apiUrl}${pathOf(key, anyEvent)}`
}
