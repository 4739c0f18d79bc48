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

/** On zxcvbn's scale from 0 to 4: 3 stands for at least 10^8 guesses. */
const enough = 3

/**
 * Why a new password cannot be used, as the end of a sentence that begins with "the password"; undefined if it can. The
 * lists of common passwords come with the package: nothing is sent anywhere (OWASP ASVS 2.1.1, 2.1.2, 2.1.7).
 */
export async function passwordProblem(password: string, email: string): Promise<string | undefined> {
  const { length } = password
  if (length < minPasswordLength || length > maxPasswordLength)
    return `must have ${minPasswordLength} to ${maxPasswordLength} characters, but has ${length}`
  judge ??= createJudge()
  const { check } = await judge
  const { score } = check(password.normalize('NFKC'), [email, ...email.split(/[@.]/), 'tally'])
  if (score >= enough) return undefined
  return 'is too easy to guess: use several words that do not belong together'
}

let judge: ReturnType<typeof createJudge> | undefined

/** The lists take 0.2 s and 40 MB, so they are loaded when the first new password is judged. */
async function createJudge() {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  const factory = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
  return { check: (password: string, personal: string[]) => factory.check(password, personal) }
}
