import { type EventId, formatTimestamp, name, type OrganizationId, type Scope } from '@tally/contract'

/** A key's name: 1 to 200 characters, without control characters, bidirectional marks or line separators. */
export const keyName = name.refine(
  text => !/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(text),
  'must hold no control characters',
)

/** A change that is not possible; the message is shown to the user. */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError'
}

/** The organization has as many keys as it may have. */
export class TooManyKeysError extends ApiKeyError {}

/** A key's record (docs/api.md, Tokens); times in epoch milliseconds, `lastUsedAt` rounded down to the minute. */
export type ApiKey = {
  keyId: string
  organizationId: OrganizationId
  name: string
  scopes: Scope[]
  /** The only event that the key may read; null: all events of its organization. */
  eventId: EventId | null
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
}

/** A key with the hash that its secret is checked against; it stays inside this package. */
export type StoredKey = { key: ApiKey; secretSha256: Buffer }

/** The record for output: timestamps in the form of the API, without the hash of the secret. */
export function printKey(key: ApiKey) {
  return {
    keyId: key.keyId,
    organizationId: key.organizationId,
    name: key.name,
    scopes: key.scopes,
    eventId: key.eventId,
    createdAt: formatTimestamp(key.createdAt),
    expiresAt: formatOrNull(key.expiresAt),
    revokedAt: formatOrNull(key.revokedAt),
    lastUsedAt: formatOrNull(key.lastUsedAt),
  }
}

function formatOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : formatTimestamp(epochMs)
}
