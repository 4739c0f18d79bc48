import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type EventId, formatTimestamp, name, type OrganizationId, type Scope } from '@tally/contract'
import type { Instant } from '@tally/platform'
import type { Generated } from 'kysely'

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

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const keyIdLength = 12
/** 62^43 is the first power of 62 above 2^256. */
const secretLength = 43
const checksumLength = 6
const shape = /^tally_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/
const secretStart = 'tally_'.length + keyIdLength + 1
const checksumStart = secretStart + secretLength

/** The parts of a token; `secret` is its 43 characters without the checksum. */
export type TokenParts = { keyId: string; secret: string }

/** A key id is 12 characters of [0-9A-Za-z]. */
export const keyIdShape = /^[0-9A-Za-z]{12}$/

/** Makes a token with a new random key id and secret (docs/api.md, Tokens). */
export function makeToken(): TokenParts & { token: string } {
  const keyId = randomDigits(keyIdLength)
  const secret = randomDigits(secretLength)
  return { keyId, secret, token: formatToken({ keyId, secret }) }
}

/** Formats a token; the checksum covers everything before it. */
export function formatToken({ keyId, secret }: TokenParts): string {
  const body = `tally_${keyId}_${secret}`
  return `${body}${base62(crc32(body), checksumLength)}`
}

/** Parses a token; undefined if it is malformed or mistyped, so that it needs no look-up. */
export function parseToken(text: string): TokenParts | undefined {
  if (!shape.test(text)) return undefined
  const checksum = base62(crc32(text.slice(0, checksumStart)), checksumLength)
  if (text.slice(checksumStart) !== checksum) return undefined
  return {
    keyId: text.slice('tally_'.length, secretStart - 1),
    secret: text.slice(secretStart, checksumStart),
  }
}

/** The SHA-256 of a secret, the only thing stored. 256 random bits need no salt and no slow hash. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

function base62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = digits[rest % 62] + text
  return text
}

/** randomInt rejects draws that would favour some digits, so every digit is equally likely. */
function randomDigits(length: number): string {
  return Array.from({ length }, () => digits[randomInt(62)]).join('')
}

/** The keys of the API. */
export type ApiKeyTable = {
  key_id: string
  secret_sha256: Buffer
  organization_id: string
  name: string
  scopes: Scope[]
  event_id: string | null
  created_at: Instant
  expires_at: Instant<null>
  revoked_at: Instant<null>
  last_used_at: Instant<null>
  /** The id of the last transaction that changed more than `last_used_at`; set by a trigger. */
  changed_by: Generated<number>
}

declare module '@tally/platform/database' {
  interface Database {
    api_keys: ApiKeyTable
  }
}
