import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { type ProblemType, problemBody, problemTypes } from './problems.ts'

/** Answers what never became a request (no HTTP, headers too long, too slow) as a problem, and hangs up. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const type: ProblemType = error.code === 'HPE_HEADER_OVERFLOW' ? 'request-too-large' : 'bad-request'
  const requestId = randomUUID()
  const body = JSON.stringify(problemBody(type, { instance: '/', requestId }))
  const { status, title } = problemTypes[type]
  socket.end(
    [
      `HTTP/1.1 ${status} ${title}`,
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
