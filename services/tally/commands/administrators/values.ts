import { type Administrator, email } from '@tally/access'
import { formatTimestamp } from '@tally/contract'
import type { Settings } from '@tally/platform'
import { UsageError } from '../../failure.ts'

/** An e-mail address in lower case; throws a UsageError if it is not one. */
export function emailOf(text: string): string {
  const parsed = email.safeParse(text)
  if (parsed.success) return parsed.data
  throw new UsageError(`--email takes an e-mail address, got ${JSON.stringify(text)}`)
}

/** An administrator as the commands print it with --json. */
export function printAdministrator({ createdAt, ...administrator }: Administrator) {
  return { ...administrator, createdAt: formatTimestamp(createdAt) }
}

/** The link with which an administrator sets a new password. */
export const linkOf = ({ url, host, port }: Settings['admin'], token: string): string =>
  `${url ?? `http://${host}:${port}`}/reset/${token}`
