export type Interval = {
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
