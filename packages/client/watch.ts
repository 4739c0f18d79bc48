import type { Answer, OperationName, Parameters } from './operations.ts'
import { createPace, shortestMs } from './pace.ts'
import { TallyProblem } from './problem.ts'
import { type createRequest, longestMs } from './request.ts'

export type WatchOptions = {
  /** The usual time between two requests, 1 s to a day; 5 s by default. It grows if the rate limit is short. */
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
/** Tally asks for a minute at most; a proxy may say anything, such as a time of day in place of seconds. */
const longestWaitMs = 3_600_000

/**
 * Requests an operation again and again, with the entity tag of its last answer, and yields a reading after every
 * request. See docs/guides/polling.md for the rules. Throws TypeError for impossible options.
 */
export function watch<Name extends OperationName>(
  request: ReturnType<typeof createRequest>,
  name: Name,
  parameters: Parameters<Name>,
  options: WatchOptions = {},
): AsyncGenerator<Reading<Answer<Name>>, void, void> {
  const { everyMs = 5_000, staleAfterMs = 10_000, signal, ...others } = options
  for (const name of Object.keys(others)) throw new TypeError(`${name}: not an option of watch`)
  if (!(Number.isFinite(everyMs) && everyMs >= shortestMs && everyMs <= longestMs))
    throw new TypeError(`everyMs: a number of milliseconds from ${shortestMs} to ${longestMs}`)
  if (typeof staleAfterMs !== 'number' || !(staleAfterMs >= 0))
    throw new TypeError('staleAfterMs: a number of milliseconds from 0')
  if (signal !== undefined && typeof signal?.aborted !== 'boolean')
    throw new TypeError('signal: the signal of an AbortController')
  return repeat(name, request(name, parameters), { everyMs, staleAfterMs, signal })
}

async function* repeat<Name extends OperationName>(
  name: Name,
  send: ReturnType<ReturnType<typeof createRequest>>,
  {
    everyMs,
    staleAfterMs,
    signal,
  }: { everyMs: number; staleAfterMs: number; signal: AbortSignal | undefined },
): AsyncGenerator<Reading<Answer<Name>>, void, void> {
  const pace = createPace(everyMs)
  let etag: string | undefined
  let answer: Answer<Name> | undefined
  let asOfMs = Number.NaN
  let now = () => 0
  let failures = 0

  while (!signal?.aborted) {
    const before = answer
    let error: Error | undefined
    try {
      const { headers, body } = await send({ signal, etag })
      if (body !== undefined) answer = body as Answer<Name>
      etag = headers.get('ETag') ?? undefined
      pace.note(headers, false)
      now = clockFrom(Date.parse(headers.get('Date') ?? '') || Date.now())
      // The list of events has no asOf, and is as old as its answer.
      asOfMs = name === 'listEvents' ? now() : Date.parse(headers.get('Tally-As-Of') ?? '')
    } catch (reason) {
      error = reason as Error
    }
    if (signal?.aborted) return
    const problem = error instanceof TallyProblem ? error : undefined
    if (problem !== undefined && !problem.isTransient) throw problem
    const isRefused = problem?.problem === 'rate-limit-exceeded'
    if (isRefused) pace.note(problem.headers, true)
    failures = error === undefined || isRefused ? 0 : failures + 1

    const asOf = Number.isNaN(asOfMs) ? undefined : new Date(asOfMs)
    const stale = asOf === undefined || now() - asOfMs > staleAfterMs
    yield { answer, isChanged: answer !== before, asOf, stale, error }
    const backoffMs = failures === 0 ? 0 : Math.min(longestBackoffMs, everyMs * 2 ** (failures - 1))
    const leastMs = Math.max(backoffMs * (0.5 + 0.5 * Math.random()), problem?.retryAfterMs ?? 0)
    await sleep(Math.max(pace.nextMs(), Math.min(leastMs, longestWaitMs)), signal)
  }
}

/**
 * The server's clock, from a time of it on: a device's own may be wrong. While a computer sleeps, its monotonic clock
 * may stand still, and at any time its other clock may be set: the one that went further is believed.
 */
function clockFrom(serverMs: number): () => number {
  const [startMs, setMs] = [performance.now(), Date.now()]
  return () => serverMs + Math.max(performance.now() - startMs, Date.now() - setMs)
}

/** Ends early if the signal aborts, and leaves no listener behind. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, signal?.aborted ? 0 : ms)
    signal?.addEventListener('abort', end)
  })
}
