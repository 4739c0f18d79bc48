/** How much of the limit stays unused while others share it: they cannot see each other between two requests. */
const reserved = 0.1
/** docs/api.md, Rate limit. */
const windowMs = 60_000
/** Nothing asks more often than every second, whatever an answer says. */
export const shortestMs = 1_000
/** The longest that one of a thousand devices waits for its turn. */
const longestTurnMs = 3_600_000

/**
 * Slows down by what remains of the rate limit, which is the organization's: other devices use it too. How many of
 * them there are shows in `X-RateLimit-Remaining`, which falls by what all of them took between two of our requests.
 * If all wait as long as it takes for that number to fit into what remains of the window, it lasts to its end.
 */
export function createPace(everyMs: number) {
  /** Requests of all devices for each of ours. */
  let devices = 0
  let last = { limit: Number.POSITIVE_INFINITY, remaining: Number.POSITIVE_INFINITY, endsAtMs: 0 }

  return {
    /** Notes an answer's rate headers, which a proxy may have removed; `isRefused` if it was a 429. */
    note(headers: Headers, isRefused: boolean): void {
      const numberOf = (name: string) => Number(headers.get(`X-RateLimit-${name}`) ?? 'none')
      const [limit, remaining, resetMs] = [numberOf('Limit'), numberOf('Remaining'), numberOf('Reset') * 1000]
      // Those of a proxy may count other requests, or say a time of day in place of seconds.
      if (!(limit >= 1 && remaining >= 0 && resetMs >= 0 && resetMs <= windowMs)) return
      const taken = last.remaining - remaining
      const isSameWindow = performance.now() < last.endsAtMs && taken > 0
      // The first answer tells only what the window has seen so far.
      if (devices === 0) devices = ((limit - remaining) * everyMs) / Math.max(windowMs - resetMs, everyMs)
      else if (isRefused) devices = Math.min(devices * 2, 1_000)
      else devices = isSameWindow ? (devices + taken) / 2 : devices * 0.9
      devices = Math.max(1, devices)
      last = { limit, remaining, endsAtMs: performance.now() + resetMs }
    },
    /** How long to wait before the next request, at least `everyMs`. */
    nextMs(): number {
      const { limit, remaining, endsAtMs } = last
      const windowLeftMs = Math.max(0, endsAtMs - performance.now())
      const usable = devices > 1.5 ? remaining - Math.ceil(limit * reserved) : remaining
      const fairMs = usable > 0 ? (windowLeftMs * devices) / usable : Number.POSITIVE_INFINITY
      // Devices that were switched on together, or that wait for the same window, spread out.
      if (fairMs > windowLeftMs) {
        const turnMs = Math.random() * Math.min(longestTurnMs, (windowMs * devices) / limit)
        return Math.max(shortestMs, windowLeftMs + Math.max(Math.random() * everyMs, turnMs))
      }
      return Math.max(everyMs, fairMs, shortestMs / 0.9) * (0.9 + 0.2 * Math.random())
    },
  }
}
