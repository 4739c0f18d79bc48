/** The part of a request target that is not percent-encoded UTF-8: `path`, or the name of a parameter. */
export type BrokenPart = { parameter: string }

/**
 * Finds broken percent-encoding, or an escape that is not UTF-8, in the path or the query (docs/api.md, Parameters: 400
 * before all other checks); undefined if there is none.
 */
export function findBrokenEncoding(target: string): BrokenPart | undefined {
  if (!target.includes('%')) return undefined
  const { path, query } = splitTarget(target)
  if (decode(path) === undefined) return { parameter: 'path' }
  for (const pair of query.split('&')) {
    if (decode(pair) !== undefined) continue
    const name = pair.split('=', 1)[0] ?? ''
    return { parameter: decode(name) ?? name }
  }
  return undefined
}

/** Splits a request target at its first `?`. */
export function splitTarget(target: string): { path: string; query: string } {
  const index = target.indexOf('?')
  return index < 0
    ? { path: target, query: '' }
    : { path: target.slice(0, index), query: target.slice(index + 1) }
}

/** Parameters by name; a repeated one has all its values, which no schema accepts. */
export function parseQuery(query: string): Record<string, string | string[]> {
  const parameters: Record<string, string | string[]> = Object.create(null)
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const index = pair.indexOf('=')
    const name = formDecode(index < 0 ? pair : pair.slice(0, index))
    const value = formDecode(index < 0 ? '' : pair.slice(index + 1))
    const earlier = parameters[name]
    // Not copied for each value: a query may hold thousands.
    if (Array.isArray(earlier)) earlier.push(value)
    else parameters[name] = earlier === undefined ? value : [earlier, value]
  }
  return parameters
}

function formDecode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  return decode(spaced) ?? spaced
}

function decode(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
