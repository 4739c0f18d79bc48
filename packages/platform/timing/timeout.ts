import { reasonOf } from '../lifecycle/errors.ts'
import { deadline } from './deadline.ts'

/**
 * Rejects with a TimeoutError if the answer takes longer than `ms` (time in which this process was frozen does not
 * count, see deadline.ts); the call itself continues, and its later failure is ignored.
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
