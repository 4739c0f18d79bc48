const longestMs = 30_000

/** Milliseconds before the next attempt: 1, 2, 4 … 30 s, and up to half longer: screens must not come back at once. */
export const backoffMs = (attempts, random = Math.random()) =>
  Math.min(longestMs, 1_000 * 2 ** attempts) * (1 + random / 2)
