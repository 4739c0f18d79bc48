import { randomUUID } from 'node:crypto'
import type { RequestCounts } from '@tally/access'
import { endpoints } from '@tally/contract'
import type { Logger } from '@tally/runtime'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { answerRequest, type RequestParts } from './answerRequest.ts'
import { endpointReads } from './endpoints/index.ts'
import { answerClientError } from './http/clientError.ts'
import { allowedOrigins } from './http/cors.ts'
import { type BrokenPart, findBrokenEncoding, splitTarget } from './http/encoding.ts'
import { knownPaths } from './http/knownPaths.ts'
import { problemBody, problemTypes, RequestProblem } from './http/problems.ts'
import { type QueryMetrics, watchRequests } from './metrics.ts'
import { registerReference } from './reference.ts'

export type AppOptions = {
  edition: 'cloud' | 'community'
  corsOrigins: string[]
  /** Connections beyond this number are closed at once. */
  maxConnections: number
  logger: Logger
  metrics: QueryMetrics
  counts: Pick<RequestCounts, 'note'>
}

/** A request that has not arrived completely after this time is answered with 408. */
const requestTimeoutMs = 10_000

/** Builds the API as a fastify app that is not listening yet; it opens and closes nothing by itself. */
export async function buildApp(
  parts: Omit<RequestParts, 'answered'>,
  { edition, corsOrigins, maxConnections, logger, metrics, counts }: AppOptions,
): Promise<FastifyInstance> {
  const cors = allowedOrigins(corsOrigins)
  const isKnownPath = knownPaths()
  /** The one place that answers an error. */
  const answerProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const problem = error instanceof RequestProblem ? error : ofReference(error)
    if (problem === undefined)
      logger.error({ err: error, requestId: request.id }, 'a request failed unexpectedly')
    sendProblem(problem, request, reply)
  }
  const app = fastify({
    // Fastify's costs each request; what nobody expected is logged below, what fastify itself would say is lost.
    logger: false,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    // What comes while closing is answered like all else, not with fastify's own 503.
    return503OnClosing: false,
    // Node would answer a request without Host by itself, with no problem and no X-Request-Id.
    // Its list of connections is looked through every 30 s by default: a limit of 10 s would be one of 40.
    http: {
      requireHostHeader: false,
      connectionsCheckingInterval: 1_000,
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
    },
    bodyLimit: 1_024,
    connectionTimeout: 60_000,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength: 16_384, querystringParser: asItIs },
    // A path that the router cannot decode gets here before any hook.
    frameworkErrors: (_error, request, reply) => {
      const answer = () =>
        answerProblem(badEncoding({ parameter: 'path' }), request as FastifyRequest, reply as FastifyReply)
      if (cors === undefined) answer()
      else cors(request as FastifyRequest, reply as FastifyReply, answer)
    },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, isKnownPath.has),
  }) as unknown as FastifyInstance

  app.server.maxConnections = maxConnections
  app.server.on('drop', () => metrics.droppedConnections.inc())
  // By itself Node answers any other expectation than 100-continue with a bare 417; it may be passed over (RFC 9110).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply))
  app.addHook('onRoute', ({ url }) => isKnownPath.add(url))
  const answered = watchRequests(app, metrics, counts)
  if (cors !== undefined) app.addHook('onRequest', cors)
  app.addHook('onRequest', (request, reply, done) => {
    // Nobody reads a body: a connection that still brings one is not kept.
    if (hasBody(request)) reply.raw.setHeader('Connection', 'close')
    const target = request.raw.url ?? '/'
    const broken = findBrokenEncoding(target)
    if (broken !== undefined) return done(badEncoding(broken))
    // The router takes an empty segment for a parameter's value; to the API it is another path.
    const { path } = splitTarget(target)
    if (hasEmptySegment(path)) return done(new RequestProblem('not-found'))
    // Here, before fastify reads a body: one that it cannot parse would be its error, not a 405.
    if (request.method !== 'GET' && request.method !== 'HEAD') return done(otherMethod(isKnownPath.has(path)))
    done()
  })

  // 200 and 304 of the API go past fastify and say it in answer.ts; this is for all else.
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('X-Request-Id', request.id)
    done()
  })

  // Node closes what is idle once: a connection whose request is answered after that would keep the server open.
  app.addHook('preClose', done => {
    const timer = setInterval(() => app.server.closeIdleConnections(), 100)
    app.server.once('close', () => clearInterval(timer))
    done()
  })

  if (edition === 'cloud') {
    for (const endpoint of endpointReads) {
      const { url } = endpoints[endpoint.name]
      app.get(url, { config: { name: endpoint.name } }, (request, reply) =>
        answerRequest({ ...parts, answered }, endpoint, request, reply),
      )
    }
    await registerReference(app)
  }

  app.setNotFoundHandler((request, reply) => answerProblem(new RequestProblem('not-found'), request, reply))
  return app
}

/** The query stays text: parameters.ts parses it, and remembers what is right. */
const asItIs = (query: string) => query as never

const otherMethod = (isKnown: boolean) =>
  isKnown
    ? new RequestProblem('method-not-allowed', { headers: { Allow: 'GET, HEAD' } })
    : new RequestProblem('not-found')

const hasBody = ({ headers }: FastifyRequest) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const hasEmptySegment = (path: string) =>
  path.startsWith('/api/') && (path.includes('//') || path.endsWith('/'))

function badEncoding({ parameter }: BrokenPart): RequestProblem {
  return new RequestProblem('invalid-parameters', {
    errors: [{ parameter, message: 'must be percent-encoded UTF-8' }],
  })
}

/** A path that the reference page's files refuse (`..`, NUL, a backslash): no such file. */
function ofReference(error: unknown): RequestProblem | undefined {
  const { statusCode = 500 } = error as { statusCode?: number }
  return statusCode >= 400 && statusCode < 500 ? new RequestProblem('not-found') : undefined
}

/** Makes an answer of an error; one that nobody expected tells nothing from inside. */
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
    // Bytes, because fastify would add a charset to a text, which this media type does not have (RFC 7807).
    .headers({ ...problem?.headers, 'X-Request-Id': request.id, 'Content-Type': 'application/problem+json' })
    .send(Buffer.from(body))
}
