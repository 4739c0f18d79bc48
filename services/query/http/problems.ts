import { type ProblemType, problemTypes } from '@tally/contract'

export type ParameterError = { parameter: string; message: string }

/** Thrown anywhere in a request; answerProblem.ts answers it. */
export class RequestProblem extends Error {
  readonly type: ProblemType
  readonly errors: ParameterError[] | undefined
  readonly headers: Record<string, string>

  constructor(
    type: ProblemType,
    { errors, headers = {} }: { errors?: ParameterError[]; headers?: Record<string, string> } = {},
  ) {
    super(problemTypes[type].title)
    this.type = type
    this.errors = errors
    this.headers = headers
  }
}

/** The answer needs Redis or Postgres, which is down; `Retry-After` is about the time of a failover. */
export function unavailable(): RequestProblem {
  return new RequestProblem('service-unavailable', { headers: { 'Retry-After': '2' } })
}
