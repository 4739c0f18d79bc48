/** The headers that decide how a poll is answered; the names are Node's. */
const read = ['x-api-key', 'authorization', 'if-none-match', 'origin'] as const
/** Those that change what a request is, or where it ends. */
const decisive = [
  'connection',
  'proxy-connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
]
const names = new Map<string, boolean>([
  ...read.map(name => [name, true] as const),
  ...decisive.map(name => [name, false] as const),
])

/** A GET without a body whose connection stays open. */
export type PlainRequest = {
  /** All of its bytes, as latin1. */
  text: string
  /** The request target: path and query. */
  url: string
  headers: { [Name in (typeof read)[number]]?: string }
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
  const headers: PlainRequest['headers'] = {}
  let at = text.indexOf('\r\n') + 2
  while (at < text.length - 2) {
    const colon = text.indexOf(':', at)
    const end = text.indexOf('\r\n', colon)
    const name = text.slice(at, colon).toLowerCase() as keyof PlainRequest['headers']
    const isRead = names.get(name)
    if (isRead !== undefined) {
      const value = text.slice(colon + 1, end).trim()
      if (isRead ? headers[name] !== undefined : !staysOpen(name, value)) return undefined
      if (isRead) headers[name] = value
    }
    at = end + 2
  }
  return { text, url, headers }
}

const staysOpen = (name: string, value: string): boolean =>
  name === 'connection' && value.toLowerCase() === 'keep-alive'
