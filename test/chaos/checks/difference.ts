import { isDeepStrictEqual } from 'node:util'
import type { Expected } from './answers.ts'

// biome-ignore lint/suspicious/noExplicitAny: whatever the service sent
type Said = { status: number; body: any; text?: string }

/** The first difference between an answer and the expected one, as a sentence; undefined if there is none. */
export function differenceOf(
  expected: Omit<Expected, 'path'>,
  { status, body, text = '' }: Said,
): string | undefined {
  if (status !== 200) return `${status} ${text.slice(0, 200)}`
  const { data, meta = {} } = expected
  const said = { data: body?.data, meta: pick(body?.meta, Object.keys(meta)) }
  const told = { data, meta }
  return isDeepStrictEqual(said, told) ? undefined : firstDifference(told, said)
}

function pick(from: Record<string, unknown> | undefined, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map(name => [name, from?.[name]]))
}

function firstDifference(told: unknown, said: unknown, path = ''): string {
  if (typeof told !== 'object' || told === null || typeof said !== 'object' || said === null)
    return `${path} must be ${JSON.stringify(told)}, is ${JSON.stringify(said)}`
  const names = new Set([...Object.keys(told), ...Object.keys(said)])
  for (const name of names) {
    const [one, other] = [(told as never)[name], (said as never)[name]]
    if (!isDeepStrictEqual(one, other)) return firstDifference(one, other, `${path}/${name}`)
  }
  return `${path} differs`
}
