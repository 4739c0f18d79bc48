import { resolveDay } from '@tally/core'
import type { ListedEvent } from '@tally/read-models'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { sendPage } from '../http/page.ts'
import { notFound, PageProblem } from '../http/problem.ts'
import { eventsOf } from '../keys/events.ts'
import type { Streams } from '../live/stream.ts'
import { screenView } from '../live/view.ts'
import { giveCookie, readCookie } from '../signIn/cookies.ts'
import { findScreen, type ScreenLink } from './store.ts'

const cookieSeconds = 30 * 86_400

const ended = () =>
  new PageProblem(
    404,
    'This screen link has ended',
    'Create a new one in the administration area, under Live.',
  )

/**
 * What a screen link shows: the live screen of its event, and nothing else. The link moves its token into a cookie, so
 * that the screen's address bar does not show it.
 */
export function screenPages(app: FastifyInstance, { db }: AdminDeps, streams: Streams): void {
  app.get<{ Params: { token: string } }>('/screen/:token', async (request, reply) => {
    const { token } = request.params
    if ((await findScreen(db, token)) === undefined) throw ended()
    giveCookie(request, reply, 'screen', token, cookieSeconds)
    return reply.redirect('/screen', 303)
  })

  app.get('/screen', async (request, reply) => {
    const shown = await shownTo(request)
    if (shown === undefined) throw ended()
    const { event, dayId } = shown
    const script = dayId === undefined ? {} : { script: 'live.js', style: 'uplot/uPlot.min.css' }
    return sendPage(request, reply, { title: event.name, ...script, body: screenView(event, dayId) })
  })

  app.get('/screen/stream', async (request, reply) => {
    const shown = await shownTo(request)
    if (shown?.dayId === undefined) throw notFound()
    const { event, dayId, screen } = shown
    // When the next day opens the stream ends too, and the page shows that day.
    const mayContinue = async () => (await shownTo(request))?.dayId === dayId
    const viewer = `link-${screen.screenId}` as const
    const { organizationId } = screen
    return streams.open(
      request,
      reply,
      { eventId: event.eventId, dayId },
      { organizationId, viewer, mayContinue },
    )
  })

  /** The browser's link with its event and day; undefined if the link does not work. */
  async function shownTo(request: FastifyRequest): Promise<Shown | undefined> {
    const token = readCookie(request, 'screen')
    const screen = token === undefined ? undefined : await findScreen(db, token)
    if (screen === undefined) return undefined
    const events = await eventsOf(db, screen.organizationId)
    const event = events.find(({ eventId }) => eventId === screen.eventId)
    return event && { screen, event, dayId: resolveDay(event.days)?.dayId }
  }
}

type Shown = { screen: ScreenLink; event: ListedEvent; dayId: number | undefined }
