import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { type ProblemType, problemBody, problemTypes } from '@tally/contract'
import {
  beginningOf,
  isTransient,
  type Logger,
  longestLine,
  oncePerMinute,
  reasonOf,
  refuse,
  safeHeaders,
} from '@tally/platform'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Overloaded } from '../postgres/gate.ts'
import { findBrokenEncoding, splitTarget } from './encoding.ts'

export type ParameterError = { parameter: string; message: string }

/** Thrown anywhere in a request; createAnswerProblem answers it. */
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

/** What a failed read throws: `service-unavailable` if a part is down or busy; a defect as it is. */
export const failureOf = (error: unknown): unknown =>
  isTransient(error) || error instanceof Overloaded ? unavailable() : error

export type AnswerProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void

/**
 * Returns what answers every error with a problem; in the community edition, which has no path, with a 404. An
 * unexpected one is logged, each once a minute, and its 500 has no details.
 */
export function createAnswerProblem(logger: Logger, edition: 'cloud' | 'community'): AnswerProblem {
  const unexpected = oncePerMinute<{ err: unknown; requestId: string }>((_, count, last) =>
    logger.error({ ...last, count }, 'a request failed unexpectedly'),
  )
  return (error, request, reply) => {
    const found = error instanceof RequestProblem ? error : undefined
    const problem = found && edition === 'community' ? new RequestProblem('not-found') : found
    if (problem === undefined) unexpected.note(reasonOf(error), 1, { err: error, requestId: request.id })
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

type ClientError = Error & { code?: string | undefined }

/** Connections with the line of an unknown method, whose end is waited for: Node's parser fails with each segment. */
const begun = new WeakSet<Socket>()

/**
 * Answers input that never became a request (not HTTP, headers too long, too slow, a method unknown to Node's parser)
 * with a problem, and closes the connection. The answer depends on the bytes alone, however they are cut into segments:
 * the line of an unknown method is waited for, as long as it may still become one.
 */
export function answerClientError(
  error: ClientError,
  socket: Socket,
  isKnownPath: (path: string) => boolean,
): void {
  const answer = () => {
    const line = beginningOf(socket)
    refuse(error, socket, () => problemText(...problemOf(error, line, isKnownPath)))
  }
  const isWhole = error.code !== 'HPE_INVALID_METHOD' || !mayBecomeLine(beginningOf(socket))
  // A client that has shut its half sends nothing more; `end` has passed if it did so while bytes were held back.
  if (isWhole || socket.readableEnded) answer()
  // Before Node, which would end the connection without an answer.
  else if (!begun.has(socket)) {
    begun.add(socket)
    socket.prependOnceListener('end', answer)
  }
}

/** A longer one is not waited for. */
const mayBecomeLine = (line: string): boolean =>
  line.length < longestLine && /^[!#$%&'*+.^_`|~\w-]*( (\/\S*( [HTP/1.0]*\r?)?)?)?$/.test(line)

function problemOf(
  { code }: ClientError,
  line: string,
  isKnownPath: (path: string) => boolean,
): [ProblemType, string] {
  const target = /^[!#$%&'*+.^_`|~\w-]* (\/\S*) HTTP\/1\.[01]\r?\n/.exec(line)?.[1]
  const path = target === undefined ? '/' : splitTarget(target).path
  if (code === 'HPE_HEADER_OVERFLOW') return ['request-too-large', path]
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return ['request-timeout', path]
  if (code !== 'HPE_INVALID_METHOD' || path === '/' || findBrokenEncoding(path) !== undefined)
    return ['bad-request', path]
  return [isKnownPath(path) ? 'method-not-allowed' : 'not-found', path]
}

function problemText(type: ProblemType, path: string): string {
  const requestId = randomUUID()
  const body = JSON.stringify(problemBody(type, { instance: path, requestId }))
  const { status, title } = problemTypes[type]
  return [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(safeHeaders).map(([name, value]) => `${name}: ${value}`),
    ...(type === 'method-not-allowed' ? ['Allow: GET, HEAD'] : []),
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
