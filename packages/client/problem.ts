import type { components, ProblemName } from './openapi.ts'

type Body = Partial<components['schemas']['Problem']>

/**
 * An answer that is an error: a problem of the API, or whatever else was answered in place of Tally, whose name is
 * `unknown`: a proxy's error, the sign-in page of a network, half an answer.
 */
export class TallyProblem extends Error {
  override readonly name = 'TallyProblem'
  readonly problem: ProblemName
  readonly status: number
  /** What to quote in a report. */
  readonly requestId: string | undefined
  /** The wrong parameters, with what each takes. */
  readonly errors: NonNullable<Body['errors']>
  /** How long to wait before the next request; undefined if the answer does not say. */
  readonly retryAfterMs: number | undefined
  readonly headers: Headers

  constructor({ status, headers }: Response, answered: object) {
    const { type, detail, requestId, errors }: Body = answered
    const name = /^\/problems\/([\w-]+)$/.exec(String(type))?.[1]
    super((name && detail) || `What answered ${status} is not Tally: a proxy, or the portal of a network`)
    this.problem = (name ?? 'unknown') as ProblemName
    this.status = status
    this.headers = headers
    this.requestId = name && requestId
    this.errors = (name && errors) || []
    this.retryAfterMs = Number(headers.get('Retry-After')) * 1000 || undefined
  }

  /** Whether the same request may succeed later: an outage, a time-out, the rate limit, or an answer not of Tally. */
  get isTransient(): boolean {
    return this.problem === 'unknown' || this.status >= 500 || this.status === 429 || this.status === 408
  }
}
