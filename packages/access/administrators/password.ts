import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)

/** The parameters of scrypt, as the PHC format names them. */
export type PasswordCost = { ln: number; r: number; p: number }

/** OWASP's choice for scrypt: 32 MiB and about 0.15 s. Each hash names its parameters, so they can be raised. */
export const passwordCost: PasswordCost = { ln: 15, r: 8, p: 3 }
const saltLength = 16
const hashLength = 32

export const minPasswordLength = 12
/** Of a new password (OWASP ASVS 2.1.2). */
export const maxPasswordLength = 128

/** Passwords that were set before that limit have up to 200 characters, and still sign in. */
const longestKnown = 200

/** Hashes a password with a new salt; returns the hash with its parameters in the PHC format. */
export async function hashPassword(password: string, cost = passwordCost): Promise<string> {
  const salt = randomBytes(saltLength)
  const hash = await scryptOf(password, salt, cost)
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${salt.toString('base64')}$${hash.toString('base64')}`
}

/**
 * Whether a password is the one that was hashed; false if `hashed` is not a hash. It takes the same time for a text of
 * any length: what is longer than every password is cut to a length that none has.
 */
export async function isPassword(password: string, hashed: string): Promise<boolean> {
  const match = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(hashed)
  if (match === null) return false
  const [, ln, r, p, salt = '', hash = ''] = match
  const expected = Buffer.from(hash, 'base64')
  const given = await scryptOf(password.slice(0, longestKnown + 1), Buffer.from(salt, 'base64'), {
    ln: Number(ln),
    r: Number(r),
    p: Number(p),
  })
  return expected.length === given.length && timingSafeEqual(expected, given)
}

/** NFKC: the same password typed on another keyboard is the same password. */
function scryptOf(password: string, salt: Buffer, { ln, r, p }: PasswordCost): Promise<Buffer> {
  const N = 2 ** ln
  return derive(password.normalize('NFKC'), salt, hashLength, { N, r, p, maxmem: 256 * N * r })
}
