import type { Answer, OperationName, Parameters } from './operations.ts'
import { openPace } from './pace.ts'
import { TallyProblem } from './problem.ts'
import type { openRequest } from './request.ts'

export type WatchOptions = {
  /** The usual time between two requests; 5 s by default. It grows if the organization's rate limit is short. */
  everyMs?: number
  /** From which age on the figures count as stale; 10 s by default. */
  staleAfterMs?: number
  /** Ends the watch. */
  signal?: AbortSignal
}

export type Reading<Value> = {
  /** The last answer; undefined if there was none yet. */
  answer: Value | undefined
  /** Whether this request brought another answer than the one before. */
  isChanged: boolean
  /** Up to when everything is counted (`Tally-As-Of`). */
  asOf: Date | undefined
  /** Whether the figures may be old: Tally has not heard from the tills, or this device not from Tally. */
  stale: boolean
  /** Why the last request failed: the rate limit, an outage, the network. The watch goes on. */
  error: Error | undefined
}

const longestBackoffMs = 60_000
/** 24.8 days. A timer for longer fires after 1 ms: a proxy's time of day in place of seconds would mean a hot loop. */
const longestTimerMs = 2 ** 31 - 1

/**
 * Requests an operation again and again, with the entity tag of its last answer, and yields a reading after every
 * request. See docs/guides/polling.md for the rules.
 */
export async function* watch<Name extends OperationName>(
  request: ReturnType<typeof openRequest>,
  name: Name,
  parameters: Parameters<Name>,
  { everyMs = 5_000, staleAfterMs = 10_000, signal }: WatchOptions = {},
): AsyncGenerator<Reading<Answer<Name>>, void, void> {
  const pace = openPace(everyMs)
  let etag: string | undefined
  let answer: Answer<Name> | undefined
  let asOfMs = Number.NaN
  let aheadMs = 0
  let failures = 0
  /** The server's clock: a device's own may be wrong. */
  const now = () => performance.now() + aheadMs

  while (!signal?.aborted) {
    const before = answer
    let error: Error | undefined
    try {
      const { headers, body } = await request(name, parameters, { signal, etag })
      if (body !== undefined) answer = body as Answer<Name>
      etag = headers.get('ETag') ?? undefined
      pace.note(headers, false)
      aheadMs = (Date.parse(headers.get('Date') ?? '') || Date.now()) - performance.now()
      // The list of events has no asOf, and is as old as its answer.
      asOfMs = name === 'listEvents' ? now() : Date.parse(headers.get('Tally-As-Of') ?? '')
    } catch (reason) {
      error = reason as Error
    }
    if (signal?.aborted) return
    const problem = error instanceof TallyProblem ? error : undefined
    if (problem !== undefined && !problem.isTransient) throw problem
    if (problem?.status === 429) pace.note(problem.headers, true)
    failures = error === undefined || problem?.status === 429 ? 0 : failures + 1

    const asOf = Number.isNaN(asOfMs) ? undefined : new Date(asOfMs)
    const stale = asOf === undefined || now() - asOfMs > staleAfterMs
    yield { answer, isChanged: answer !== before, asOf, stale, error }
    const backoffMs = failures === 0 ? 0 : Math.min(longestBackoffMs, everyMs * 2 ** (failures - 1))
    const leastMs = Math.max(backoffMs * (0.5 + 0.5 * Math.random()), problem?.retryAfterMs ?? 0)
    await sleep(Math.max(pace.nextMs(), leastMs), signal)
  }
}

/** Ends early if the signal aborts, and leaves no listener behind. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, signal?.aborted ? 0 : Math.min(ms, longestTimerMs))
    signal?.addEventListener('abort', end)
  })
}
