import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

/** RFC 6238 as authenticator apps do it: SHA-1, six digits, 30 s. */
const periodSeconds = 30
const totpOf = (secret: string, email: string) =>
  new TOTP({ issuer: 'Tally', label: email, secret: Secret.fromBase32(secret), period: periodSeconds })

/** A new secret of 160 bits, in base 32. */
export const newSecret = (): string => new Secret({ size: 20 }).base32

/** The URI that an authenticator app reads from a QR code. */
export const uriOf = (secret: string, email: string): string => totpOf(secret, email).toString()

/** The time step that a code belongs to; undefined if wrong. Its neighbours are accepted, because clocks differ. */
export function stepOf(secret: string, code: string, nowMs = Date.now()): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const delta = totpOf(secret, '').validate({ token: code, timestamp: nowMs, window: 1 })
  return delta === null ? undefined : Math.floor(nowMs / 1000 / periodSeconds) + delta
}

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const codeCount = 10

/** New recovery codes of 120 random bits each, which need no slow hash (OWASP ASVS 2.6.2). */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: codeCount }, () =>
    [...randomBytes(24)]
      .map(byte => alphabet[byte % alphabet.length])
      .join('')
      .replace(/.{6}(?=.)/g, '$&-'),
  )

/** A recovery code as it was typed, in the form that is hashed; undefined if it cannot be one. */
export function recoveryCodeOf(typed: string): string | undefined {
  const bare = typed.toUpperCase().replace(/[^A-Z0-9]/g, '')
  return bare.length === 24 ? bare : undefined
}
