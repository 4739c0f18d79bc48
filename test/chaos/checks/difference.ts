import { isDeepStrictEqual } from 'node:util'
import type { Asked } from '@tally/testkit/oracle/questions'

// biome-ignore lint/suspicious/noExplicitAny: whatever the service sent
type Given = { status: number; body: any; text?: string }

/** The first difference between an answer and the expected one, as a sentence; undefined if there is none. */
export function differenceOf(
  expected: Omit<Asked, 'path'>,
  { status, body, text = '' }: Given,
): string | undefined {
  if (status !== 200) return `${status} ${text.slice(0, 200)}`
  const { data, meta = {} } = expected
  const given = { data: body?.data, meta: pick(body?.meta, Object.keys(meta)) }
  const wanted = { data, meta }
  return isDeepStrictEqual(given, wanted) ? undefined : firstDifference(wanted, given)
}

function pick(from: Record<string, unknown> | undefined, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map(name => [name, from?.[name]]))
}

function firstDifference(wanted: unknown, given: unknown, path = ''): string {
  if (typeof wanted !== 'object' || wanted === null || typeof given !== 'object' || given === null)
    return `${path} must be ${JSON.stringify(wanted)}, is ${JSON.stringify(given)}`
  const names = new Set([...Object.keys(wanted), ...Object.keys(given)])
  for (const name of names) {
    const [one, other] = [(wanted as never)[name], (given as never)[name]]
    if (!isDeepStrictEqual(one, other)) return firstDifference(one, other, `${path}/${name}`)
  }
  return `${path} differs`
}
