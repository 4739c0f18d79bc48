import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { formatTimestamp } from '@tally/contract'
import type { HeaderValue, KafkaRecord, RecordHeaders } from '@tally/kafka'

/** A dead letter: a rejected record in the dead-letter topic (docs/records.md, Dead letters). */
export type DeadLetter = {
  /**
   * `<topic>-<partition>-<offset>` of the rejected record. A dead letter that was written twice because of a crash has
   * one id; so do two different ones if the topic was created again in between, but their fingerprints differ.
   */
  id: string
  /** SHA-256 over its key, value and headers. */
  fingerprint: Buffer
  /** Position of the rejected record. */
  source: { topic: string; partition: number; offset: number }
  reason: string
  /** Names the field that was wrong, never its value. */
  message: string
  /** When the dead letter was written, milliseconds since 1970. */
  atMs: number
  key: Buffer | null
  value: Buffer | null
  /** Set if the value was left out: size and hash of the record's value, which is still in its topic. */
  leftOut: { bytes: number; sha256: string } | undefined
  /** All of them: the record's own, then those that were added. */
  headers: RecordHeaders
}

/**
 * Reads a record of the dead-letter topic, or returns undefined for one that Tally did not write: without one of the
 * added headers, or of a topic that is not among `sources` (replay must not send anywhere else, whatever a header
 * says).
 */
export function deadLetterOf(
  { key, value, headers, timestampMs }: KafkaRecord,
  sources: ReadonlyMap<string, unknown>,
): DeadLetter | undefined {
  const topic = headerText(headers, added.topic)
  const partition = wholeOf(headerText(headers, added.partition))
  const offset = wholeOf(headerText(headers, added.offset))
  const reason = headerText(headers, added.reason)
  const message = headerText(headers, added.message)
  if (topic === undefined || partition === undefined || offset === undefined) return undefined
  if (reason === undefined || message === undefined || !sources.has(topic)) return undefined
  const id = `${topic}-${partition}-${offset}`
  return {
    id,
    fingerprint: fingerprintOf({ key, value, headers }),
    source: { topic, partition, offset },
    reason,
    message,
    atMs: timestampMs,
    key,
    value,
    leftOut: value === null ? leftOutOf(headers) : undefined,
    headers,
  }
}

/** The size and SHA-256 of a value that was left out, as the headers have them; undefined if they have none. */
export function leftOutOf(headers: RecordHeaders): DeadLetter['leftOut'] {
  const bytes = wholeOf(headerText(headers, addedForValue.bytes))
  const sha256 = headerText(headers, addedForValue.sha256)
  if (bytes === undefined || sha256 === undefined || !/^[0-9a-f]{64}$/.test(sha256)) return undefined
  return { bytes, sha256 }
}

/** Tells two dead letters with one id apart. */
function fingerprintOf({ key, value, headers }: Pick<KafkaRecord, 'key' | 'value' | 'headers'>): Buffer {
  const hash = createHash('sha256')
  const add = (bytes: Buffer | string | null): void => {
    hash.update(`${bytes === null ? -1 : Buffer.byteLength(bytes)}\n`)
    if (bytes !== null) hash.update(bytes)
  }
  add(key)
  add(value)
  for (const [name, values] of Object.entries(headers)) {
    for (const value of valuesOf(values)) {
      add(name)
      add(value)
    }
  }
  return hash.digest()
}

/** Whether a text has the shape of a dead letter's id. Does not check that it exists. */
export function isDeadLetterId(text: string): boolean {
  return /^[a-zA-Z0-9._-]{1,249}-(0|[1-9]\d{0,9})-(0|[1-9]\d{0,15})$/.test(text)
}

function wholeOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^(0|[1-9]\d{0,15})$/.test(text)) return undefined
  return Number.isSafeInteger(Number(text)) ? Number(text) : undefined
}

/** The headers that the projector adds to a rejected record (docs/records.md, Dead letters). */
export const added = {
  reason: 'tally.reason',
  topic: '__connect.errors.topic',
  partition: '__connect.errors.partition',
  offset: '__connect.errors.offset',
  message: '__connect.errors.exception.message',
} as const

/** Added if the value is left out because it is too large to read, or too large for the dead-letter topic. */
export const addedForValue = { bytes: 'tally.value-bytes', sha256: 'tally.value-sha256' } as const

/** The text of an added header: the last value of its name, because the record may have had a header of that name. */
export const headerText = (headers: RecordHeaders, name: string): string | undefined =>
  valuesOf(headers[name]).at(-1)?.toString()

/** The headers as the rejected record had them: the last value of each added name is removed; earlier ones stay. */
export function ownHeaders(headers: RecordHeaders): RecordHeaders {
  const ours = new Set<string>(Object.values(added))
  // Without a prototype, as they are read: a header may be called `__proto__`.
  const own: RecordHeaders = Object.create(null)
  for (const [name, values] of Object.entries(headers)) {
    const left = ours.has(name) ? valuesOf(values).slice(0, -1) : valuesOf(values)
    const [first] = left
    if (first !== undefined) own[name] = left.length === 1 ? first : left
  }
  return own
}

function valuesOf(values: RecordHeaders[string] | undefined): HeaderValue[] {
  if (values === undefined) return []
  return Array.isArray(values) ? values : [values]
}

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
