import type { ApiKey } from '@tally/access'
import type { EventId } from '@tally/contract'

/** A path that a key may ask, the most telling one that its scopes allow. */
function pathOf({ scopes, eventId }: ApiKey, anyEvent: EventId | undefined): string {
  const event = eventId ?? anyEvent ?? 'EVENT_ID'
  if (scopes.includes('analytics:read')) return `/api/v1/events/${event}/live/item-counts`
  if (scopes.includes('orders:read')) return `/api/v1/events/${event}/orders`
  return '/api/v1/events'
}

/** The command that asks the API with a new key; `anyEvent` is one of the organization's, the open one best. */
export function curlLine(apiUrl: string, key: ApiKey, token: string, anyEvent: EventId | undefined): string {
  return `curl -H 'X-Api-Key: ${token}' ${apiUrl}${pathOf(key, anyEvent)}`
}
