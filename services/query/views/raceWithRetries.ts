import { setTimeout as sleep } from 'node:timers/promises'

const againMs = 250

/** The result of `slow`, or of `again` if that has one earlier: it is called every 250 ms until `slow` settles. */
export function raceWithRetries<Result>(
  slow: Promise<Result>,
  again: () => Promise<Result | undefined>,
): Promise<Result> {
  let isSettled = false
  const answer = slow.finally(() => {
    isSettled = true
  })
  const repeat = async () => {
    for (;;) {
      await sleep(againMs, undefined, { ref: false })
      if (isSettled) return answer
      const result = await again()
      if (result !== undefined) return result
    }
  }
  return Promise.race([answer, repeat()])
}
