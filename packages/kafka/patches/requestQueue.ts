/** The part of kafkajs's RequestQueue that the patch uses. */
type RequestQueue = {
  throttledUntil: number
  throttleCheckTimeoutId: NodeJS.Timeout | null
  pending: unknown[]
  checkPendingRequests(): void
}

const pendingCheckMs = 10

/**
 * Stops kafkajs 2.2.4 from re-arming a timer about every millisecond, forever, on each connection that has nothing to
 * send (issues 1704, 1751): `throttledUntil` starts at -1, so the delay is negative, which Node takes as 1 ms and
 * answers with a TimeoutNegativeWarning. The patch is the one from the comments of pull request 1768: nothing pending
 * and no throttling means no timer. Cutting the delay off at 0, as other pull requests do, hides the warning and keeps
 * the loop.
 */
export function patchRequestQueue(prototype: object): void {
  Object.assign(prototype, {
    scheduleCheckPendingRequests(this: RequestQueue) {
      if (this.throttleCheckTimeoutId) return
      const throttledMs = this.throttledUntil - Date.now()
      if (throttledMs <= 0 && this.pending.length === 0) return
      this.throttleCheckTimeoutId = setTimeout(
        () => {
          this.throttleCheckTimeoutId = null
          this.checkPendingRequests()
        },
        throttledMs > 0 ? throttledMs : pendingCheckMs,
      )
    },
  })
}
