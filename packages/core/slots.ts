import type { EpochMs } from '@tally/contract'

/** The length of a slot of the list of orders: short enough that few orders of an event share one, even at its peak. */
export const slotMs = 5 * 60_000

/** The slot of an instant: whole slots since 1970, the same in every time zone; below 2^31 up to the year 9999. */
export function slotOf(at: EpochMs): number {
  return Math.floor(at / slotMs)
}
