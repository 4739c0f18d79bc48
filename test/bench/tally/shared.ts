import type { Bench } from '../run/bench.ts'

/** What rows one after the other share, because filling it takes long: the first one starts it, main.ts stops it. */
export type Shared<Running> = {
  get: (bench: Bench) => Promise<Running>
  release: () => Promise<void>
}

/** `start` announces how to stop what it starts, as soon as there is something to stop. */
export function openShared<Running>(
  start: (bench: Bench, onRelease: (release: () => Promise<void>) => void) => Promise<Running>,
): Shared<Running> {
  let running: Promise<Running> | undefined
  let stop = async () => {}
  return {
    get(bench) {
      running ??= start(bench, release => {
        stop = release
      })
      return running
    },
    async release() {
      running = undefined
      const release = stop
      stop = async () => {}
      await release()
    },
  }
}
