import type { components } from './openapi.ts'

type Body = components['schemas']['Problem']

/** The names of the problem types: `type` without `/problems/`. Any other name is an answer that is not Tally's. */
export type ProblemName =
  | 'invalid-parameters'
  | 'bad-request'
  | 'unauthorized'
  | 'missing-scope'
  | 'not-found'
  | 'method-not-allowed'
  | 'request-timeout'
  | 'rate-limit-exceeded'
  | 'request-too-large'
  | 'internal-error'
  | 'service-unavailable'
  | 'unknown'

/** An answer that is an error: a problem of the API, or what a proxy on the way said, whose name is `unknown`. */
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

  constructor(response: Response, body: Partial<Body>) {
    super(body.detail ?? `The server answered ${response.status}.`)
    this.problem = (/^\/problems\/([\w-]+)$/.exec(body.type ?? '')?.[1] ?? 'unknown') as ProblemName
    this.status = response.status
    this.headers = response.headers
    this.requestId = body.requestId
    this.errors = body.errors ?? []
    const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN)
    this.retryAfterMs = Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined
  }

  /** Whether the same request may succeed later: an outage, a time-out or the rate limit. */
  get isTransient(): boolean {
    return this.status >= 500 || this.status === 429 || this.status === 408
  }
}

/** Reads the body of an error, which is not JSON if a proxy made it. */
export async function readProblem(response: Response): Promise<TallyProblem> {
  const text = await response.text()
  try {
    return new TallyProblem(response, JSON.parse(text) as Partial<Body>)
  } catch {
    return new TallyProblem(response, {})
  }
}
