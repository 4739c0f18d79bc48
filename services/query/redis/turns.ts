import { deadline } from '@tally/runtime'

/** Lets a number of reads run at once; further ones wait for their turn, in the order in which they came. */
export type Turns = {
  /** Runs a read once it has its turn, or has waited for it for half a second; settles as the read does. */
  take<Result>(read: () => Promise<Result>): Promise<Result>
}

/** Those whose turn it is may hang. */
const longestWaitMs = 500

export function openTurns(most: number): Turns {
  let running = 0
  /** Each begins a read that waits, and is in here until it has. */
  const waiting = new Set<() => void>()

  const wait = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const begin = () => {
      cancel()
      waiting.delete(begin)
      running += 1
      resolve()
    }
    const cancel = deadline(performance.now(), longestWaitMs, begin)
    waiting.add(begin)
    return promise
  }

  return {
    async take(read) {
      if (running < most) running += 1
      else await wait()
      try {
        return await read()
      } finally {
        running -= 1
        const [next] = waiting
        if (running < most) next?.()
      }
    },
  }
}
