import { eventId, maxInteger } from '@tally/contract'
import { resolveDay } from '@tally/core'
import type { ListedEvent } from '@tally/read-models'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { sendPage } from '../http/page.ts'
import { notFound } from '../http/problem.ts'
import { eventsOf } from '../keys/events.ts'
import { sessionToken } from '../signIn/cookies.ts'
import { sessionOf } from '../signIn/guard.ts'
import { findSession } from '../signIn/sessions.ts'
import type { Streams } from './stream.ts'
import { liveView, noEventsView } from './view.ts'

const asked = z.object({
  eventId: eventId.optional(),
  day: z
    .string()
    .regex(/^[1-9]\d{0,9}$/)
    .transform(Number)
    .pipe(z.number().max(maxInteger))
    .optional(),
})

/** The live screen: the sales of one event and day as they happen. */
export function livePages(area: FastifyInstance, deps: AdminDeps, streams: Streams): void {
  area.get('/', async (_, reply) => reply.redirect('/live', 303))

  area.get('/live', async (request, reply) => {
    const events = await eventsOf(deps.db, sessionOf(request).organizationId)
    const page = { title: 'Live', section: 'live' } as const
    if (events.length === 0) return sendPage(request, reply, { ...page, body: noEventsView() })
    const { event, dayId } = pick(request, events)
    const body = liveView(events, event, dayId)
    const script = dayId === undefined ? {} : { script: 'live.js', style: 'uplot/uPlot.min.css' }
    return sendPage(request, reply, { ...page, ...script, title: event.name, body })
  })

  area.get('/live/stream', async (request, reply) => {
    const { event, dayId } = pick(request, await eventsOf(deps.db, sessionOf(request).organizationId))
    if (dayId === undefined) throw notFound()
    const { organizationId, sessionId } = sessionOf(request)
    const token = sessionToken(request) ?? ''
    const viewer = {
      organizationId,
      viewer: `session ${sessionId}`,
      mayContinue: async () => (await findSession(deps.db, token)) !== undefined,
    } as const
    return streams.open(request, reply, { eventId: event.eventId, dayId }, viewer)
  })
}

/** The requested event and day, if they are the organization's; by default the first event and its open or last day. */
function pick(
  request: FastifyRequest,
  events: ListedEvent[],
): { event: ListedEvent; dayId: number | undefined } {
  const read = asked.safeParse(request.query)
  if (!read.success) throw notFound()
  const { eventId: id, day } = read.data
  const event = id === undefined ? events[0] : events.find(one => one.eventId === id)
  if (event === undefined) throw notFound()
  const isDay = event.days.some(({ dayId }) => dayId === day)
  // If the event is changed in the form, the URL still has a day of the one before.
  return { event, dayId: isDay ? day : resolveDay(event.days)?.dayId }
}
