import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** A password or key of 256 random bits, in hexadecimal digits. */
export const newPassword = (): string => randomBytes(32).toString('hex')

/** The password in a file, which is written at the first call and readable by its owner only. */
export function passwordIn(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const password = newPassword()
  writeFileSync(file, password, { mode: 0o600, flag: 'wx' })
  return password
}
