/**
 * Rejects with a TimeoutError if the call takes longer than `ms`; the call itself continues, and its later failure is
 * ignored.
 */
export async function timeout<Result>(ms: number, answer: Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new DOMException(`no answer in ${ms} ms`, 'TimeoutError')), ms)
  answer.catch(() => undefined)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether a call succeeds in time. */
export const answers = (ms: number, ask: () => Promise<unknown>): Promise<boolean> =>
  timeout(ms, Promise.resolve().then(ask)).then(
    () => true,
    () => false,
  )
