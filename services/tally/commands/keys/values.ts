import { keyIdShape, keyName } from '@tally/access'
import { eventId, organizationId, parseTimestamp, type Scope, scope } from '@tally/contract'
import { UsageError } from '../../failure.ts'
import { oneOf } from '../../values.ts'

/** The values of `tally keys`; each throws a UsageError that names the option if the value is invalid. */
export const organizationOf = (text: string) => idOf('--organization', organizationId, text)
export const eventOf = (text: string, name = '--event') => idOf(name, eventId, text)

function idOf<Id>(
  name: string,
  id: { safeParse(text: string): { data?: Id | undefined } },
  text: string,
): Id {
  const { data } = id.safeParse(text)
  if (data !== undefined) return data
  throw new UsageError(`${name} takes a UUID (8-4-4-4-12 hex digits), got ${JSON.stringify(text)}`)
}

export function nameOf(text: string): string {
  const parsed = keyName.safeParse(text)
  if (parsed.success) return parsed.data
  throw new UsageError(`--name takes 1 to 200 characters: it ${parsed.error.issues[0]?.message}`)
}

/** Once each, in the order of the contract. */
export function scopesOf(texts: string[]): Scope[] {
  const given = texts.map(text => oneOf('--scope', scope.options, text))
  return scope.options.filter(known => given.includes(known))
}

export function expiryOf(text: string, nowMs: number): number {
  const expiresAt = parseTimestamp(text)
  if (expiresAt === undefined)
    throw new UsageError(
      `--expires-at takes an RFC 3339 timestamp such as 2026-12-31T23:59:59Z, got ${JSON.stringify(text)}`,
    )
  if (expiresAt <= nowMs)
    throw new UsageError(`--expires-at takes a time to come, got ${JSON.stringify(text)}`)
  return expiresAt
}

/** Does not repeat what it got: that may be a whole token. */
export function keyIdOf(text: string): string {
  if (keyIdShape.test(text)) return text
  throw new UsageError('KEYID is the 12 characters of 0-9, A-Z, a-z between the two "_" of the token')
}
