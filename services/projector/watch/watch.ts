import { setTimeout as sleep } from 'node:timers/promises'
import type { WatchDeps } from './deps.ts'
import { createTick } from './tick.ts'

const tickMs = 400
/**
 * The sleeps after `soon`: the first tick notes the ends of partitions that have just been assigned, a later one finds
 * them reached. With the usual sleeps, their watermarks would stand still for up to 0.8 s longer.
 */
const soonMs = [50, 50]

export type Watch = {
  /** Ticks at once, or after the tick that runs, and twice more shortly afterwards. */
  soon(): void
  stop(): Promise<void>
}

/**
 * Keeps `asOf` and Redis up to date: ticks (see tick.ts) and then sleeps for 0.4 s, concurrently with the batches,
 * until it is stopped. A part that does not answer delays only its own steps.
 */
export function watch(deps: WatchDeps): Watch {
  let isStopped = false
  /** Aborting it ends the sleep, also one that has not begun. */
  let wake = new AbortController()
  let sleepsMs: number[] = []
  const { tick, settle } = createTick(deps, () => isStopped)

  const run = async (): Promise<void> => {
    while (!isStopped) {
      wake = new AbortController()
      await tick()
      await sleep(sleepsMs.shift() ?? tickMs, undefined, { signal: wake.signal }).catch(() => undefined)
    }
  }
  const done = run()

  return {
    soon() {
      sleepsMs = [...soonMs]
      wake.abort()
    },
    async stop() {
      isStopped = true
      wake.abort()
      await done
      await settle()
    },
  }
}
