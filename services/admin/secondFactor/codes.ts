import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
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

/** Encrypts what must not be readable in a copy of the database (ADMIN_SECRET_KEY). */
export type Sealer = {
  /** Encrypts a text of an owner with the first key. */
  seal(text: string, owner: string): string
  /** Decrypts what `seal` made for this owner; undefined if no key fits, or if it was changed or is another owner's. */
  open(sealed: string, owner: string): string | undefined
  /** Whether the first key made it, so that earlier keys are not needed. */
  isCurrent(sealed: string, owner: string): boolean
}

const algorithm = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16
/** Names the format, so that another one can follow. */
const prefix = '1.'

/**
 * A sealer with keys of 64 hexadecimal digits each; undefined without any. The owner is authenticated with the text: a
 * secret that was copied into another administrator's row cannot be opened.
 */
export function createSealer(hexKeys: string[]): Sealer | undefined {
  const keys = hexKeys.map(key => Buffer.from(key, 'hex'))
  const [first] = keys
  if (first === undefined) return undefined
  return {
    seal: (text, owner) => prefix + encrypt(first, text, owner).toString('base64url'),
    open: (sealed, owner) => {
      for (const key of keys) {
        const text = decrypt(key, sealed, owner)
        if (text !== undefined) return text
      }
      return undefined
    },
    isCurrent: (sealed, owner) => decrypt(first, sealed, owner) !== undefined,
  }
}

function encrypt(key: Buffer, text: string, owner: string): Buffer {
  // Random: a key would have to seal 2^32 secrets before two are likely to meet (NIST SP 800-38D, 8.3).
  const iv = randomBytes(ivLength)
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(owner))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

function decrypt(key: Buffer, sealed: string, owner: string): string | undefined {
  const bytes = Buffer.from(sealed.slice(prefix.length), 'base64url')
  if (!sealed.startsWith(prefix) || bytes.length < ivLength + tagLength) return undefined
  const text = bytes.subarray(ivLength + tagLength)
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), {
      authTagLength: tagLength,
    })
    decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(ivLength, ivLength + tagLength))
    return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
