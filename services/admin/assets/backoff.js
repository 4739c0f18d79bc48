/**
 * Milliseconds before the next attempt: 1, 2, 4, then 5 s, each up to half longer, so that all screens of a hall do not
 * come back at once, and each soon after the network.
 */
export const backoffMs = (attempts, random = Math.random()) =>
  Math.min(5_000, 1_000 * 2 ** attempts) * (1 + random / 2)
