import { setTimeout as sleep } from 'node:timers/promises'

const againMs = 250

/** The result of `slow`, or of `again` if that has one earlier: it is called every 250 ms until `slow` settles. */
export function raceWithRetries<Result>(
  slow: Promise<Result>,
  again: () => Promise<Result | undefined>,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  let isSettled = false
  const settled = () => {
    isSettled = true
  }
  slow.then(resolve, reject).finally(settled)
  const repeat = async () => {
    for (;;) {
      await sleep(againMs, undefined, { ref: false })
      if (isSettled) return
      const result = await again()
      if (result !== undefined) return resolve(result)
    }
  }
  repeat().catch(reject)
  return promise
}
