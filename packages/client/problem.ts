import type { components, ProblemName } from './openapi.ts'

type Body = Partial<components['schemas']['Problem']>

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

  constructor({ status, headers }: Response, body: Body) {
    super(body.detail ?? `The server answered ${status}.`)
    this.problem = (/^\/problems\/([\w-]+)$/.exec(body.type ?? '')?.[1] ?? 'unknown') as ProblemName
    this.status = status
    this.headers = headers
    this.requestId = body.requestId
    this.errors = body.errors ?? []
    this.retryAfterMs = Number(headers.get('Retry-After') ?? 'none') * 1000 || undefined
  }

  /** Whether the same request may succeed later: an outage, a time-out or the rate limit. */
  get isTransient(): boolean {
    return this.status >= 500 || this.status === 429 || this.status === 408
  }
}
