import type { HeaderValue, RecordHeaders } from '@tally/kafka'

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
export function headerText(headers: RecordHeaders, name: string): string | undefined {
  const last = Object.hasOwn(headers, name) ? valuesOf(headers[name]).at(-1) : undefined
  return last === undefined || last === null ? undefined : last.toString()
}

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

export function valuesOf(values: RecordHeaders[string] | undefined): HeaderValue[] {
  if (values === undefined) return []
  return Array.isArray(values) ? values : [values]
}
