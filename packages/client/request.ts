import { type OperationName, pathOf } from './operations.ts'
import { readProblem } from './problem.ts'

export type Options = {
  /** Where Tally answers, such as `https://tally.example.org`. */
  url: string
  /** The token of an API key. */
  key: string
  /** How long one request may take; 10 s by default. */
  timeoutMs?: number
  /** A `fetch` of your own, for a proxy or a test. */
  fetch?: typeof fetch
}

/** Sends one request; `body` is undefined on a 304. Rejects with TallyProblem for an error. */
export type Request = (
  name: OperationName,
  parameters: object,
  more?: { signal?: AbortSignal | undefined; etag?: string | undefined },
) => Promise<{ headers: Headers; body: unknown }>

/** Throws TypeError for options that no request can be made of: `watch` would repeat its error as an outage. */
export function openRequest({ url, key, timeoutMs = 10_000, fetch: send = fetch }: Options): Request {
  if (!isAddress(url)) throw new TypeError('url: where Tally answers, such as https://tally.example.org')
  if (!/^[!-~]+$/.test(key?.trim() ?? ''))
    throw new TypeError('key: the token of an API key, tally_ and 62 characters')
  const base = url.replace(/\/+$/, '')
  return async (name, parameters, { signal, etag } = {}) => {
    const timeout = AbortSignal.timeout(timeoutMs)
    const response = await send(base + pathOf(name, parameters), {
      headers: { 'X-Api-Key': key, ...(etag === undefined ? {} : { 'If-None-Match': etag }) },
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    if (response.status === 304) return { headers: response.headers, body: undefined }
    if (!response.ok) throw await readProblem(response)
    return { headers: response.headers, body: await response.json() }
  }
}

/** A page may name its own host by a path. */
function isAddress(url: string | undefined): boolean {
  const { location } = globalThis as { location?: { href: string } }
  try {
    return url !== undefined && /^https?:$/.test(new URL(url, location?.href).protocol)
  } catch {
    return false
  }
}
