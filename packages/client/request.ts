import { pathOf } from './openapi.ts'
import type { OperationName } from './operations.ts'
import { TallyProblem } from './problem.ts'

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

/** Throws TypeError for options that no request can be made of: `watch` would repeat its error as an outage. */
export function openRequest({ url, key, timeoutMs = 10_000, fetch: send = fetch }: Options) {
  if (!isAddress(url))
    throw new TypeError(
      'url: where Tally answers, such as https://tally.example.org, without user name, query and fragment',
    )
  // trim() also removes what is copied along unseen: a byte order mark, a no-break space.
  const token = key?.trim() ?? ''
  if (!/^[!-~]+$/.test(token)) throw new TypeError('key: the token of an API key, tally_ and 62 characters')
  const base = url.trim().replace(/\/+$/, '')

  /** Sends one request; `body` is undefined on a 304. Rejects with TallyProblem for an error. */
  return async (
    name: OperationName,
    parameters: object,
    { signal, etag }: { signal?: AbortSignal | undefined; etag?: string | undefined } = {},
  ) => {
    const timeout = AbortSignal.timeout(timeoutMs)
    const response = await send(base + targetOf(name, parameters), {
      headers: { 'X-Api-Key': token, ...(etag && { 'If-None-Match': etag }) },
      // fetch would take the key along to another host, such as the portal of a Wi-Fi network.
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    if (response.status === 304) return { headers: response.headers, body: undefined }
    if (response.ok) return { headers: response.headers, body: (await response.json()) as unknown }
    // What a proxy answers is not JSON.
    throw new TallyProblem(response, Object(await response.json().catch(() => undefined)))
  }
}

/** A page may name its own host by a path. */
function isAddress(url: string | undefined): boolean {
  const { location } = globalThis as { location?: { href: string } }
  // The path of an operation is appended to the text, so that not even an empty query or fragment may end it.
  if (url === undefined || /[?#]/.test(url) || !URL.canParse(url, location?.href)) return false
  const { protocol, username, password } = new URL(url, location?.href)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

function targetOf(name: OperationName, parameters: object): string {
  const query = new URLSearchParams()
  let path: string = pathOf[name]
  for (const [key, value] of Object.entries(parameters)) {
    if (path.includes(`{${key}}`)) path = path.replace(`{${key}}`, encodeURIComponent(value))
    else if (value !== undefined) query.set(key, value)
  }
  return query.size === 0 ? path : `${path}?${query}`
}
