import { createHash, type Hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { formatTimestamp, type Pagination } from '@tally/contract'
import { safeHeaders } from '@tally/platform'
import type { LimitDecision } from '../limits/limitDecision.ts'

/**
 * The content of an answer with its entity tag, composed once per revision. `text` is the body up to `meta`,
 * `{"data":…`, in UTF-8, with one character per byte (Node calls that `latin1`): encoding 7 kB of text for each request
 * took 20 % of the time of a hot one, and Node writes a text together with the headers, unlike a Buffer.
 */
export type Composed = {
  text: string
  etag: string
  /** What goes before `text` in a large answer, in UTF-8: all who asked for it share these bytes. */
  chunk?: Buffer
}

/** JSON and entity tag of an answer's data; `meta` holds the fields of `meta` that belong to the content. */
export function compose(data: unknown, ...meta: unknown[]): Composed {
  return composeText(JSON.stringify(data), ...meta)
}

/** As `compose`, for data that is JSON already. */
export function composeText(data: string, ...meta: unknown[]): Composed {
  // The tag is made of the bytes, not of the text: of 8 MB that takes 5 ms instead of 20.
  const bytes = Buffer.from(`{"data":${data}`)
  return { text: bytes.toString('latin1'), etag: weakEtag(bytes, JSON.stringify(meta)) }
}

/** Bytes that are composed before others are answered: 3 ms. */
const atOnce = 512 * 1_024

/**
 * As `compose`, for a list of JSON, each item in parts. It may be large: composed at once, 5 MiB made everybody else
 * wait for 20 ms; as text, for 15 ms more, while its copies were collected.
 */
export async function composeList(
  items: readonly (readonly string[])[],
  ...meta: unknown[]
): Promise<Composed> {
  if (items.length === 0) return compose([], ...meta)
  const parts = items.flatMap((item, index) => [index === 0 ? '{"data":[' : ',', ...item])
  const chunk = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0))
  const hash = createHash('sha256')
  let written = 0
  let hashed = 0
  for (const part of parts) {
    written += chunk.write(part, written)
    if (written - hashed < atOnce) continue
    hash.update(chunk.subarray(hashed, written))
    hashed = written
    await yieldToOthers()
  }
  hash.update(chunk.subarray(hashed)).update(`]\n${JSON.stringify(meta)}\n`)
  return { chunk, text: ']', etag: tagOf(hash) }
}

/** The result of a read: the data as JSON with its entity tag, and the fields of `meta`. */
export type Answer = Composed & {
  eventId: string
  /** Absent on the list of events. */
  asOfMs?: number | null
  dayId?: number | null | undefined
  pagination?: Pagination
  /** Present if the answer holds as long as the event has this revision; the shard is the event's. */
  holdsFor?: { revision: number; shard: number }
}

/**
 * An answer as HTTP, without `fixedHeaders`: `headers` are lines, each with its end; `chunk` goes before `body`, and
 * `bytes` is the size of both. Text is latin1.
 */
type Message = {
  status: 200 | 304
  headers: string
  chunk?: Buffer | undefined
  body: string
  bytes: number
}

/** The headers of docs/api.md, Rate limit, for a problem. */
export const limitHeaders = (decision: LimitDecision) => ({
  'X-RateLimit-Limit': decision.limit,
  'X-RateLimit-Remaining': decision.remaining,
  'X-RateLimit-Reset': resetSeconds(decision),
})

/** At least 1: a window that has no time left is over, and a new one begins. */
const resetSeconds = ({ resetMs }: LimitDecision): number => Math.ceil(resetMs / 1000)

/** The same on every answer. */
export const fixedHeaders: readonly string[] = Object.entries({
  ...safeHeaders,
  'Cache-Control': 'private, no-cache',
}).flat()

/**
 * Returns the function that puts an answer in the envelope of docs/api.md; it is a 304 if `ifNoneMatch` matches.
 * Headers are one string; as a list they took 4 of the 43 µs of a poll.
 */
export function createMessages() {
  const format = rememberFew(formatTimestamp)

  return (
    answer: Answer,
    asOfMs: number | null | undefined,
    decision: LimitDecision,
    { requestId, ifNoneMatch }: { requestId: string; ifNoneMatch: string | undefined },
  ): Message => {
    const { chunk, text, etag, eventId, dayId, pagination } = answer
    const asOf = asOfMs == null ? null : format(asOfMs)
    let headers = `X-RateLimit-Limit: ${decision.limit}\r\nX-RateLimit-Remaining: ${decision.remaining}\r\nX-RateLimit-Reset: ${resetSeconds(decision)}\r\nX-Request-Id: ${requestId}\r\nETag: ${etag}\r\n`
    if (asOf !== null) headers += `Tally-As-Of: ${asOf}\r\n`
    if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, etag))
      return { status: 304, headers, body: '', bytes: 0 }

    let body = `${text},"meta":{"generatedAt":"${format(Date.now())}","eventId":"${eventId}"`
    if (dayId !== undefined) body += `,"dayId":${dayId}`
    if (asOfMs !== undefined) body += `,"asOf":${asOf === null ? null : `"${asOf}"`}`
    if (pagination !== undefined) body += `,"pagination":${JSON.stringify(pagination)}`
    body += '}}'
    const bytes = (chunk?.length ?? 0) + body.length
    headers += `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${bytes}\r\n`
    return { status: 200, headers, chunk, body, bytes }
  }
}

/**
 * Sends a message on Node's response: fastify's handling took a tenth of the time of a hot request, a flat list of
 * headers costs Node less than an object, and a text goes out in one write with the headers. Headers that were set on
 * the response before (CORS, Connection) stay.
 */
export function sendMessage(
  response: ServerResponse,
  { status, headers, chunk, body }: Omit<Message, 'bytes'>,
): void {
  response.writeHead(status, [...listOf(headers), ...fixedHeaders])
  if (chunk !== undefined) response.write(chunk)
  response.end(body, 'latin1')
}

/** A flat list of the names and values in lines of headers. */
const listOf = (lines: string): string[] =>
  lines
    .trimEnd()
    .split('\r\n')
    .flatMap(line => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)]
    })

/** Lines of headers, each with its end, from a flat list of names and values. */
export function linesOf(headers: readonly string[]): string {
  let lines = ''
  for (let index = 0; index < headers.length; index += 2)
    lines += `${headers[index]}: ${headers[index + 1]}\r\n`
  return lines
}

/** A weak entity tag of an answer's content (docs/api.md, ETag and polling); `parts` omit generatedAt and asOf. */
function weakEtag(...parts: (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\n')
  return tagOf(hash)
}

/** The tag of what was hashed so far. */
const tagOf = (hash: Hash): string => ownText(`W/"${hash.digest('base64url').slice(0, 27)}"`)

/** What proxies append to a tag when they compress an answer, before the quote that ends it. */
const suffixed = /(?:--?|;)(?:gzip|br|zstd|deflate)"$/

/** Whether an If-None-Match header matches: weak comparison, with lists, `*` (RFC 9110, 13.1.2) and suffixes. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true
  if (ifNoneMatch.trim() === '*') return true
  const opaque = etag.slice(etag.indexOf('"'))
  // The whole tag is compared first: it may itself end like a suffix.
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)].some(
    ([, tag = '']) => tag === opaque || tag.replace(suffixed, '"') === opaque,
  )
}

/**
 * The same text as a string of its own, for what is kept. V8 makes a concatenation a tree of its parts, and a slice a
 * reference into the whole text: an entity tag of 31 characters takes 160 bytes that way, not 50.
 */
export const ownText = (text: string): string => Buffer.from(text).toString()

/** How many results `rememberFew` keeps before it begins again. */
const few = 256

/** Keeps the results of a few arguments: thousands of answers per second carry the same few timestamps. */
export function rememberFew(format: (at: number) => string): (at: number) => string {
  const texts = new Map<number, string>()
  return at => {
    let text = texts.get(at)
    if (text === undefined) {
      if (texts.size >= few) texts.clear()
      text = format(at)
      texts.set(at, text)
    }
    return text
  }
}
