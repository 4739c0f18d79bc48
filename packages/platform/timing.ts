import { reasonOf } from './lifecycle/errors.ts'

/**
 * Rejects with a TimeoutError if the answer takes longer than `ms` (time in which this process was frozen does not
 * count, see `deadline`); the call itself continues, and its later failure is ignored.
 */
export async function timeout<Result>(ms: number, answer: Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const cancel = deadline(performance.now(), ms, () =>
    reject(new DOMException(`no answer in ${ms} ms`, 'TimeoutError')),
  )
  answer.catch(() => undefined)
  try {
    return await Promise.race([answer, late])
  } finally {
    cancel()
  }
}

/** Whether a call succeeds in time. */
export const answers = async (ms: number, ask: () => Promise<unknown>): Promise<boolean> =>
  (await silenceOf(ms, ask)) === undefined

/** Why a call does not succeed in time, in one line; undefined if it does. */
export const silenceOf = (ms: number, ask: () => Promise<unknown>): Promise<string | undefined> =>
  timeout(ms, Promise.resolve().then(ask)).then(() => undefined, reasonOf)

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

type Interval = {
  /** Runs the work now. Never two at once: while a run is in progress, returns that one. */
  run(): Promise<void>
  /** Stops the interval and waits for the run in progress. */
  stop(): Promise<void>
}

/**
 * Runs `work` every `everyMs` milliseconds, skipping a run while the last run is still in progress. `onError` is called
 * with what a run throws; the next run tries again.
 */
export function openInterval(
  everyMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): Interval {
  let running: Promise<void> | undefined
  const run = (): Promise<void> => {
    running ??= work()
      .catch(onError)
      .finally(() => {
        running = undefined
      })
    return running
  }
  const timer = setInterval(run, everyMs)
  return {
    run,
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
