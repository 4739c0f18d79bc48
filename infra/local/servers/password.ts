import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** A password of 192 random bits, in characters that need no escape in a URL. */
export const newPassword = (): string => randomBytes(24).toString('hex')

/** The password in a file, which is written at the first call and readable by its owner only. */
export function passwordIn(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const password = newPassword()
  writeFileSync(file, password, { mode: 0o600, flag: 'wx' })
  return password
}
