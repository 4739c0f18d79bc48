/** How much of the limit stays unused while others share it: they cannot see each other between two requests. */
const reserved = 0.1
/** docs/api.md, Rate limit. */
const windowMs = 60_000

export type Pace = {
  /** Notes an answer's rate headers; `isRefused` if it was a 429. */
  note(headers: Headers, isRefused: boolean): void
  /** How long to wait before the next request, at least `everyMs`. */
  nextMs(): number
}

/**
 * Slows down by what remains of the rate limit, which is the organization's: other devices use it too. How many of
 * them there are shows in `X-RateLimit-Remaining`, which falls by what all of them took between two of our requests.
 * If all wait as long as it takes for that number to fit into what remains of the window, it lasts to its end.
 */
export function openPace(everyMs: number): Pace {
  /** Requests of all devices for each of ours. */
  let devices = 0
  let limit = Number.POSITIVE_INFINITY
  let remaining = Number.POSITIVE_INFINITY
  let endsAtMs = 0

  return {
    note(headers, isRefused) {
      const left = numberOf(headers, 'X-RateLimit-Remaining')
      const resetMs = numberOf(headers, 'X-RateLimit-Reset') * 1000
      // A proxy may remove the headers.
      if (Number.isNaN(left + resetMs)) return
      const isSameWindow = performance.now() < endsAtMs && left < remaining
      limit = numberOf(headers, 'X-RateLimit-Limit')
      // The first answer tells only what the window has seen so far.
      if (devices === 0) devices = ((limit - left) * everyMs) / Math.max(windowMs - resetMs, everyMs)
      else if (isRefused) devices = Math.min(devices * 2, 1_000)
      else if (isSameWindow) devices = (devices + (remaining - left)) / 2
      else devices *= 0.9
      devices = Math.max(1, devices)
      remaining = left
      endsAtMs = performance.now() + resetMs
    },
    nextMs() {
      const windowLeftMs = Math.max(0, endsAtMs - performance.now())
      const usable = devices > 1.5 ? remaining - Math.ceil(limit * reserved) : remaining
      const fairMs = usable > 0 ? (windowLeftMs * devices) / usable : Number.POSITIVE_INFINITY
      const spreadMs = Math.max(everyMs, (windowMs * devices) / limit)
      // Devices that were switched on together, or that wait for the same window, spread out.
      if (fairMs > windowLeftMs) return windowLeftMs + Math.random() * spreadMs
      return Math.max(everyMs, fairMs) * (0.9 + 0.2 * Math.random())
    },
  }
}

const numberOf = (headers: Headers, name: string): number => Number(headers.get(name) ?? Number.NaN)
