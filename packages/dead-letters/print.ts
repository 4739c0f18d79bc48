import { isUtf8 } from 'node:buffer'
import { formatTimestamp } from '@tally/contract'
import type { DeadLetter } from './deadLetter.ts'
import { valuesOf } from './headers.ts'

/** Bytes as text under `name`, or null there and base64 in `…Base64` if they are not UTF-8. */
type Printed<Name extends string> = { [name in Name]: string | null } & { [name in `${Name}Base64`]?: string }

/** A dead letter as `tally dead-letters list --json` prints it: without value and headers (they may hold anything). */
export function printDeadLetter({ id, reason, message, key, atMs }: Omit<DeadLetter, 'value' | 'headers'>) {
  return { id, reason, message, ...printBytes('key', key), at: formatTimestamp(atMs) }
}

/** All of a dead letter, as `tally dead-letters show` prints it; headers in order, with repeated ones. */
export function printWholeDeadLetter(entry: DeadLetter) {
  const headers = Object.entries(entry.headers).flatMap(([name, values]) =>
    valuesOf(values).map(value => ({ name, ...printBytes('value', value) })),
  )
  return {
    ...printDeadLetter(entry),
    source: entry.source,
    headers,
    ...printBytes('value', entry.value),
    ...(entry.leftOut && { valueLeftOut: entry.leftOut }),
  }
}

function printBytes<Name extends string>(name: Name, bytes: Buffer | string | null): Printed<Name> {
  const isText = bytes === null || typeof bytes === 'string' || isUtf8(bytes)
  const printed = isText
    ? { [name]: bytes === null ? null : bytes.toString() }
    : { [name]: null, [`${name}Base64`]: bytes.toString('base64') }
  return printed as Printed<Name>
}
