import { pathOf } from './openapi.ts'
import type { OperationName } from './operations.ts'
import { TallyProblem } from './problem.ts'

export type Options = {
  /** Where Tally answers, such as `https://tally.example.org`. */
  url: string
  /** The token of an API key. */
  key: string
  /** How long one request may take, from 1 ms to a day; 10 s by default. */
  timeoutMs?: number
  /** A `fetch` of your own, for a proxy or a test. */
  fetch?: typeof fetch
}
type Sending = { signal?: AbortSignal | undefined; etag?: string | undefined }

/** The longest time that an option may name: a day. A timer for more than 24.8 days fires after 1 ms. */
export const longestMs = 86_400_000

/** Throws TypeError for options that no request can be made of: `watch` would repeat its error as an outage. */
export function createRequest({ url, key, timeoutMs = 10_000, fetch: send = fetch, ...others }: Options) {
  for (const name of Object.keys(others)) throw new TypeError(`${name}: not an option of connect`)
  const address = addressOf(url)
  if (address === undefined)
    throw new TypeError('url: the http:// or https:// address of Tally, without user name, query or fragment')
  // trim() also removes what is copied along unseen: a byte order mark, a no-break space.
  const token = typeof key === 'string' ? key.trim() : ''
  if (!/^[!-~]+$/.test(token)) throw new TypeError('key: the token of an API key, tally_ and 62 characters')
  if (!(Number.isFinite(timeoutMs) && timeoutMs >= 1 && timeoutMs <= longestMs))
    throw new TypeError(`timeoutMs: a number of milliseconds from 1 to ${longestMs}`)
  if (typeof send !== 'function') throw new TypeError('fetch: a function')

  /**
   * Returns the function that sends this request, again and again. Its `body` is undefined on a 304. It rejects with
   * TallyProblem for an error, and for whatever is not an answer of Tally. Throws TypeError for an operation that does
   * not exist, for a parameter of its path that is missing, and for one that it does not have.
   */
  return (name: OperationName, parameters: object) => {
    const target = address + targetOf(name, parameters)
    return ({ signal, etag }: Sending = {}) =>
      withinDeadline(timeoutMs, signal, async signal => {
        const response = await send(target, {
          headers: { 'X-Api-Key': token, ...(etag && { 'If-None-Match': etag }) },
          // fetch would take the key along to another host, such as the portal of a Wi-Fi network.
          redirect: 'error',
          signal,
        })
        const { status, headers } = response
        // The body of a tag that was not sent: a cache on the way answers for another client.
        if (status === 304 && etag) return { headers, body: undefined }
        const body = parsed(await textOf(response, signal))
        if (status === 200 && 'data' in body && 'meta' in body) return { headers, body: body as unknown }
        throw new TallyProblem(response, body)
      })
  }
}

/**
 * Aborts what `run` does after a time, or with the signal, and does not wait for it to end. Browsers of 2021, such as
 * those of televisions, have neither `AbortSignal.timeout` nor `AbortSignal.any`.
 */
async function withinDeadline<Result>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ends = new AbortController()
  let end = (_reason: unknown): void => {}
  const ended = new Promise<never>((_, reject) => {
    end = reason => {
      ends.abort(reason)
      reject(reason)
    }
  })
  const abort = () => end(signal?.reason ?? new DOMException('The request was aborted', 'AbortError'))
  const timer = setTimeout(
    () => end(new DOMException(`No answer within ${timeoutMs} ms`, 'TimeoutError')),
    timeoutMs,
  )
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  try {
    return await Promise.race([run(ends.signal), ended])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/**
 * The text of a body. Closes its connection if the signal aborts: fetch of Node 20 and 22 forgets its own while a body
 * arrives, once the garbage collector has run.
 */
async function textOf({ body }: Response, signal: AbortSignal): Promise<string> {
  const reader = body?.getReader()
  signal.addEventListener('abort', () => void reader?.cancel().catch(() => {}))
  const decoder = new TextDecoder()
  let text = ''
  for (let piece = await reader?.read(); piece?.value; piece = await reader?.read())
    text += decoder.decode(piece.value, { stream: true })
  return text + decoder.decode()
}

/** The object that a body is; an empty one for a page of HTML, for half an answer, and for nothing. */
function parsed(text: string): object {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** The text that the path of an operation is appended to, or undefined. A page may name its own host by a path. */
function addressOf(url: string): string | undefined {
  // Not even an empty query or fragment may end it.
  if (typeof url !== 'string' || /[?#]/.test(url)) return undefined
  try {
    const page = (globalThis as { location?: { href: string } }).location?.href
    const { protocol, username, password } = new URL(url, page)
    const isAddress = /^https?:$/.test(protocol) && username === '' && password === ''
    return isAddress ? url.trim().replace(/\/+$/, '') : undefined
  } catch {
    return undefined
  }
}

function targetOf(name: OperationName, parameters: object): string {
  if (!Object.keys(pathOf).includes(name))
    throw new TypeError(`${name}: the name of an operation, such as getKpis`)
  const given: Record<string, unknown> = { ...parameters }
  const target = pathOf[name].replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = given[field]
    delete given[field]
    if (typeof value !== 'string' || value === '') throw new TypeError(`${field}: the parameter is missing`)
    return encodeURIComponent(value)
  })
  const [path, ...fields] = target.split(/\{\?|[,}]/)
  const query = new URLSearchParams()
  for (const [field, value] of Object.entries(given)) {
    if (!fields.includes(field)) throw new TypeError(`${field}: not a parameter of ${name}`)
    if (value != null) query.set(field, String(value))
  }
  return `${path}?${query}`.replace(/\?$/, '')
}
