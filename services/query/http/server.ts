import { randomUUID } from 'node:crypto'
import type { Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { safeHeaders, secure, serverOptions, type Unread } from '@tally/platform'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { badEncoding } from './checks.ts'
import type { Cors } from './cors.ts'
import { type AnswerProblem, answerClientError } from './problems.ts'

type ServerOptions = {
  maxConnections: number
  /** After this time without a request, a kept connection is closed. */
  idleTimeoutMs: number
  /** Called when a connection is closed because there are too many. */
  onDrop: () => void
  /** Called with how many connections were closed because their clients did not read. */
  onUnread: (connections: number) => void
  answerProblem: AnswerProblem
  cors: Cors | undefined
  isKnownPath: (path: string) => boolean
}

/** Creates the fastify instance with its limits; every error on the way to a route is a problem of the API. */
export function createServer(options: ServerOptions): { app: FastifyInstance; unread: Unread } {
  const { maxConnections, idleTimeoutMs, onDrop, onUnread, answerProblem, cors, isKnownPath } = options
  const app = fastify({
    // Fastify's log costs time on each request; answerProblem logs unexpected errors.
    logger: false,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    rewriteUrl: ({ url }) => toOriginForm(url),
    // Requests that arrive during shutdown are answered like all others, not with fastify's own 503.
    return503OnClosing: false,
    ...serverOptions,
    keepAliveTimeout: idleTimeoutMs,
    routerOptions: { maxParamLength: 16_384, querystringParser: keepText },
    // Called for a path that the router cannot decode, before any hook.
    frameworkErrors: (_error, request, reply) => {
      reply.headers(safeHeaders)
      const answer = () =>
        answerProblem(badEncoding('path'), request as FastifyRequest, reply as FastifyReply)
      if (cors === undefined) answer()
      else cors.hook(request as FastifyRequest, reply as FastifyReply, answer)
    },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, isKnownPath),
  }) as unknown as FastifyInstance

  const unread = secure(app, { maxConnections, onUnread })
  app.server.on('drop', onDrop)
  // No body is read. Node would answer 100-continue in the middle of the answer before.
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response))
  return { app, unread }
}

/**
 * Closes idle connections all the time while the server closes. Node closes them once: one whose request is answered
 * after that would keep the server open. Call it after the hooks that wait for answers past Node's HTTP.
 */
export function closeIdleConnections(app: FastifyInstance): void {
  app.addHook('preClose', done => {
    const timer = setInterval(() => app.server.closeIdleConnections(), 100)
    app.server.once('close', () => clearInterval(timer))
    done()
  })
}

/** A request target in absolute form (RFC 9112, 3.2.2) as a path with its query; any other one as it is. */
const toOriginForm = (target = '/'): string => target.replace(/^https?:\/\/[^/?]*\/?/i, '/')

/** checks.ts parses the query, and remembers valid ones. */
const keepText = (query: string) => query as never

/** The last part of the drain, in which each answer closes its connection. */
const closingMs = 1_000

/**
 * Lets a query process leave its load balancer before it closes (docs/operations.md, Rolling restarts); `/readyz` is
 * 503 meanwhile. For `drainMs`, requests are answered as before, because the balancer has to notice that first. In the
 * last second of it, each answer closes its connection: a connection that the server closes while it is idle may carry
 * a request that is already on its way, which would fail.
 */
export async function drain(server: Server, drainMs: number, stopDirect: () => Promise<void>): Promise<void> {
  await sleep(Math.max(0, drainMs - closingMs))
  server.prependListener('request', (_request, response: ServerResponse) =>
    response.setHeader('Connection', 'close'),
  )
  // A poll may wait for Postgres: closing waits for it, and no longer than for any other request.
  void stopDirect()
  await sleep(Math.min(drainMs, closingMs))
}

/** The paths with a GET route, to answer requests with another method: the router knows only registered methods. */
export function knownPaths() {
  const patterns: RegExp[] = []
  return {
    /** Adds a route's URL, with fastify's `:name` and `*`. */
    add(url: string): void {
      const pattern = url
        .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
        .replaceAll(/:\w+/g, '[^/]+')
        .replaceAll('*', '.*')
      patterns.push(new RegExp(`^${pattern}$`))
    },
    /** Whether a well-encoded path has a route; an escaped slash is part of its segment. */
    has: (path: string): boolean =>
      patterns.some(pattern => pattern.test(decodeURIComponent(path.replaceAll(/%2f/gi, '%252F')))),
  }
}
