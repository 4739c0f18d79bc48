import type { RequestCounts } from '@tally/access'
import { endpointNames, endpoints } from '@tally/contract'
import { hasBody, type Logger } from '@tally/platform'
import type { FastifyInstance } from 'fastify'
import { registerReference } from './guides/register.ts'
import { welcome } from './guides/welcome.ts'
import { createAnswerRequest, type RequestSources } from './http/answerRequest.ts'
import { checkRequest } from './http/checks.ts'
import { allowedOrigins } from './http/cors.ts'
import { type QueryMetrics, watchRequests } from './http/metrics.ts'
import { createAnswerProblem, RequestProblem } from './http/problems.ts'
import { closeIdleConnections, createServer, knownPaths } from './http/server.ts'
import { answerDirectly } from './polling/directAnswers.ts'
import { createPolling } from './polling/polling.ts'
import type { Watermarks } from './views/watermarks.ts'

export type AppOptions = {
  edition: 'cloud' | 'community'
  corsOrigins: string[]
  /** Contact in the OpenAPI document: an e-mail address or a page. */
  contact?: string | undefined
  /** Connections beyond this number are closed at once. */
  maxConnections: number
  idleTimeoutMs: number
  logger: Logger
  metrics: QueryMetrics
  counts: Pick<RequestCounts, 'note'>
}

export type App = {
  app: FastifyInstance
  /** Leaves all further requests to fastify; resolves once no request that was read on its connection waits. */
  stopDirect(): Promise<void>
}

export type AppDeps = RequestSources & { watermarks: Watermarks }

/** Builds the API as a fastify app that is not listening yet; it opens and closes nothing itself. */
export async function buildApp(
  deps: AppDeps,
  { edition, corsOrigins, contact, maxConnections, idleTimeoutMs, logger, metrics, counts }: AppOptions,
): Promise<App> {
  const cors = edition === 'cloud' ? allowedOrigins(corsOrigins) : undefined
  const knownPath = knownPaths()
  const answerProblem = createAnswerProblem(logger, edition)
  const { app, unread } = createServer({
    maxConnections,
    idleTimeoutMs,
    onDrop: () => metrics.droppedConnections.inc(),
    onUnread: connections => metrics.unreadConnections.inc(connections),
    answerProblem,
    cors,
    isKnownPath: knownPath.has,
  })

  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply))
  app.addHook('onRoute', ({ url }) => knownPath.add(url))
  const onAnswered = watchRequests(app, metrics, counts)
  if (cors !== undefined) app.addHook('onRequest', cors.hook)
  app.addHook('onRequest', (request, reply, done) => {
    // Bodies are not read: close the connection.
    if (hasBody(request)) reply.raw.setHeader('Connection', 'close')
    done(checkRequest(request, knownPath.has))
  })
  // 200 and 304 of the API bypass fastify: answer.ts sets the header for them.
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('X-Request-Id', request.id)
    done()
  })

  let stopDirect = () => Promise.resolve()
  app.addHook('preClose', () => stopDirect())
  closeIdleConnections(app)
  if (edition === 'cloud') {
    const { views } = deps.readers
    const polling = createPolling({ ...deps, views, cors, unread, onAnswered, onSource: metrics.countSource })
    const direct = answerDirectly(app.server, polling.answer)
    stopDirect = direct.stop
    const answerRequest = createAnswerRequest({ ...deps, unread, onAnswered, polling, direct })
    for (const name of endpointNames)
      app.get(endpoints[name].url, { config: { name } }, (request, reply) =>
        answerRequest(name, request, reply),
      )
    registerReference(app, contact)
  }
  app.setNotFoundHandler((request, reply) => {
    if (edition === 'cloud' && welcome(request, reply, () => [...deps.watermarks.ages().values()])) return
    answerProblem(new RequestProblem('not-found'), request, reply)
  })
  return { app, stopDirect }
}
