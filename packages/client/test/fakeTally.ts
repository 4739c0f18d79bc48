/** What a request brought; a body that is a text is sent as it is. */
type Served = { status: number; headers: Record<string, string>; body: unknown }

/**
 * A Tally of which only what a poll can see is there: one fixed window per organization that begins with its first
 * request, entity tags, `Tally-As-Of` and `Date`. Its clock is that of the test's fake timers.
 */
export function fakeTally({ limit = 60 }: { limit?: number } = {}) {
  const asked: { atMs: number; status: number; path: string; headers: Headers }[] = []
  const state = { limit, sold: 1, isDown: false, asOfLagMs: 1_000, problem: undefined as Served | undefined }
  let window = { endsAtMs: 0, used: 0 }

  function take(): { isGranted: boolean; headers: Record<string, string> } {
    const now = performance.now()
    if (now >= window.endsAtMs) window = { endsAtMs: now + 60_000, used: 0 }
    const isGranted = window.used < state.limit
    if (isGranted) window.used += 1
    const resets = String(Math.ceil((window.endsAtMs - now) / 1000))
    const headers = {
      'X-RateLimit-Limit': String(state.limit),
      'X-RateLimit-Remaining': String(Math.max(0, state.limit - window.used)),
      'X-RateLimit-Reset': resets,
      Date: new Date().toUTCString(),
    }
    return { isGranted, headers: isGranted ? headers : { ...headers, 'Retry-After': resets } }
  }

  function serve(sent: Headers): Served {
    if (state.problem !== undefined) return state.problem
    const { isGranted, headers } = take()
    if (!isGranted) return { status: 429, headers, body: { type: '/problems/rate-limit-exceeded' } }
    const etag = `W/"${state.sold}"`
    const asOf = new Date(Date.now() - state.asOfLagMs).toISOString()
    const known = { ...headers, ETag: etag, 'Tally-As-Of': asOf }
    if (sent.get('If-None-Match') === etag) return { status: 304, headers: known, body: undefined }
    const data = [{ menuItemId: 7, itemName: 'Burger', quantitySold: state.sold, quantityRefunded: 0 }]
    return { status: 200, headers: known, body: { data, meta: { asOf } } }
  }

  const answer: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    if (state.isDown) throw new TypeError('fetch failed')
    const { status, headers: sent, body } = serve(headers)
    asked.push({ atMs: performance.now(), status, path: String(input), headers })
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    return new Response(text, { status, headers: sent })
  }
  return { state, asked, fetch: answer }
}
