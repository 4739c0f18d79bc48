import { problemBody, problemTypes } from '@tally/contract'
import type { Logger } from '@tally/platform'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { splitTarget } from './encoding.ts'
import { RequestProblem } from './problems.ts'

export type AnswerProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void

/** Returns what answers every error with a problem. An unexpected one is logged, and its 500 has no details. */
export function createAnswerProblem(logger: Logger): AnswerProblem {
  return (error, request, reply) => {
    const problem = error instanceof RequestProblem ? error : undefined
    if (problem === undefined)
      logger.error({ err: error, requestId: request.id }, 'a request failed unexpectedly')
    sendProblem(problem, request, reply)
  }
}

function sendProblem(
  problem: RequestProblem | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const type = problem?.type ?? 'internal-error'
  const instance = splitTarget(request.raw.url ?? '/').path
  const body = JSON.stringify(problemBody(type, { instance, requestId: request.id, errors: problem?.errors }))
  reply
    .code(problemTypes[type].status)
    // Bytes: fastify would add a charset to text, which this media type does not have (RFC 7807).
    .headers({
      ...problem?.headers,
      'X-Request-Id': request.id,
      'Content-Type': 'application/problem+json',
    })
    .send(Buffer.from(body))
}
