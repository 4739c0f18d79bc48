/** A timer that fires this much too late shows that this process was busy or frozen, not what it waits for. */
const busyMs = 20

/**
 * Calls `late` once `limitMs` have passed since `sinceMs` (of `performance.now()`); returns a function that cancels it
 * (false: too late). If the process was busy or frozen meanwhile, it first reads what its sockets hold: timers run
 * before answers that have long arrived.
 */
export function deadline(sinceMs: number, limitMs: number, late: () => void): () => boolean {
  let isPending = true
  const callLate = () => {
    if (!isPending) return
    isPending = false
    late()
  }
  const arm = (dueMs: number) =>
    setTimeout(
      () => {
        const nowMs = performance.now()
        if (nowMs - dueMs > busyMs) timer = arm(nowMs + busyMs)
        // After the sockets of this turn of the event loop.
        else setImmediate(callLate)
      },
      Math.max(0, dueMs - performance.now()),
    )
  let timer = arm(sinceMs + limitMs)
  return () => {
    clearTimeout(timer)
    const wasPending = isPending
    isPending = false
    return wasPending
  }
}
