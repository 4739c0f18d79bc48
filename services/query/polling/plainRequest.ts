/** Headers that decide how a poll is answered, by their place in `values`; the names are Node's. */
const read = new Map([
  ['x-api-key', 0],
  ['authorization', 1],
  ['if-none-match', 2],
  ['origin', 3],
])
/** Those that change what a request is, or where it ends. */
const decisive = new Set([
  'connection',
  'proxy-connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
])

/** A GET without a body, as far as its answer depends on it. */
export type ReadRequest = {
  /** The request target: path and query. */
  url: string
  headers: {
    'x-api-key'?: string | string[] | undefined
    authorization?: string | undefined
    'if-none-match'?: string | undefined
    origin?: string | undefined
  }
}
/** One whose connection stays open. */
export type PlainRequest = ReadRequest & {
  /** All of its bytes, as latin1. */
  text: string
}

/** A longer one is rare, and Node knows the limits. */
const longest = 4_096
/** Visible ASCII only, each header once on a line of its own: nothing that two parsers could read in two ways. */
const plain = /^GET (\/[!-~]*) HTTP\/1\.1\r\n(?:[\w!#$%&'*+.^`|~-]+:[\t -~]*\r\n)*\r\n$/

/**
 * Reads bytes that are exactly one request of the plainest form (RFC 9112, 2 and 3). Undefined if they are not, or if
 * anything in them needs a decision, such as a header that decides something and is there twice.
 */
export function readPlainRequest(bytes: Buffer): PlainRequest | undefined {
  if (bytes.length > longest) return undefined
  const text = bytes.toString('latin1')
  const url = plain.exec(text)?.[1]
  if (url === undefined) return undefined
  const values: (string | undefined)[] = [undefined, undefined, undefined, undefined]
  let at = text.indexOf('\r\n') + 2
  while (at < text.length - 2) {
    const colon = text.indexOf(':', at)
    const end = text.indexOf('\r\n', colon)
    const name = text.slice(at, colon).toLowerCase()
    const place = read.get(name)
    if (place !== undefined) {
      if (values[place] !== undefined) return undefined
      values[place] = text.slice(colon + 1, end).trim()
    } else if (decisive.has(name) && !staysOpen(name, text.slice(colon + 1, end).trim())) return undefined
    at = end + 2
  }
  const [key, authorization, ifNoneMatch, origin] = values
  return {
    text,
    url,
    headers: { 'x-api-key': key, authorization, 'if-none-match': ifNoneMatch, origin },
  }
}

const staysOpen = (name: string, value: string): boolean =>
  name === 'connection' && value.toLowerCase() === 'keep-alive'

/** `X-Api-Key` before `Authorization: Bearer`; an empty header counts as absent (docs/api.md, Tokens). */
export function tokenOf({ 'x-api-key': own, authorization }: ReadRequest['headers']): string | undefined {
  if (typeof own === 'string' && own !== '') return own
  return authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}
