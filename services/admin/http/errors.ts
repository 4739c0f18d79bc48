import { isTransient } from '@tally/platform'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isStream, overEvent } from '../live/serverSentEvent.ts'
import { formAfter } from '../signIn/formAgain.ts'
import { html } from '../views/html.ts'
import { sendPage } from './page.ts'
import { formExpired, notFound, PageProblem, unavailable } from './problem.ts'

/** Answers every error with a page. An unexpected one is logged, and its page has no details. */
export function registerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error, request)
    if (isStream(request) && problem.status === 404)
      return reply.code(200).type('text/event-stream').send(overEvent)
    if (problem.retryAfterSeconds !== undefined)
      reply.header('Retry-After', String(problem.retryAfterSeconds))
    // A hall screen that is switched on during an outage has no keyboard.
    if (request.url.startsWith('/screen/') && (problem.status === 429 || problem.status >= 500))
      reply.header('Refresh', '10')
    // The status says that nothing was done; the browser shows the form again without a click.
    if (problem.next !== undefined) reply.header('Refresh', `0; url=${problem.next}`)
    return sendPage(request, reply.code(problem.status), {
      title: problem.message,
      isError: true,
      body: html`<section class="card narrow">
<h1>${problem.message}</h1>
<p>${problem.sentence}</p>
<p>${problem.next === undefined ? html`<a class="button" href="/">Back to the start page</a>` : html`<a class="button primary" href="${problem.next}">Open the form again</a>`}</p>
</section>`,
    })
  })
  app.setNotFoundHandler(() => {
    throw notFound()
  })
}

function problemOf(error: unknown, request: FastifyRequest): PageProblem {
  if (error instanceof PageProblem) return error
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number }
  if (code.startsWith('FST_CSRF')) return formExpired(formAfter(request))
  if (statusCode >= 400 && statusCode < 500)
    return new PageProblem(statusCode, 'Bad request', 'Go back and try again.')
  if (isTransient(error)) {
    request.log.debug({ err: error }, 'a part does not answer')
    return unavailable()
  }
  request.log.error({ err: error }, 'a request failed unexpectedly')
  return new PageProblem(
    500,
    'Something went wrong',
    'Try again. If the error persists, contact the platform team.',
  )
}
