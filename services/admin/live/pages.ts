import type { FastifyInstance } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { notFound } from '../http/problem.ts'
import { sessionToken } from '../signIn/cookies.ts'
import { sessionOf } from '../signIn/guard.ts'
import { findSession } from '../signIn/sessions.ts'
import { pickDay, pickOfAll } from './pick.ts'
import type { Streams } from './stream.ts'
import { liveView, noEventsView } from './view.ts'

/** The live screen: the sales of one event and day as they happen. */
export function livePages(area: FastifyInstance, { db }: AdminDeps, streams: Streams): void {
  area.get('/', async (_, reply) => reply.redirect('/live', 303))

  area.get('/live', async (request, reply) => {
    const picked = await pickOfAll(db, request)
    const page = { title: 'Live', section: 'live' } as const
    if (picked === undefined) return sendPage(request, reply, { ...page, body: noEventsView() })
    const body = liveView(picked, formatOf(request))
    const script = picked.dayId === undefined ? {} : { script: 'live.js', style: 'uplot/uPlot.min.css' }
    return sendPage(request, reply, { ...page, ...script, title: picked.event.name, body })
  })

  area.get('/live/stream', async (request, reply) => {
    const { event, dayId } = await pickDay(db, request)
    if (dayId === undefined) throw notFound()
    const { organizationId, sessionId } = sessionOf(request)
    const token = sessionToken(request) ?? ''
    const viewer = {
      organizationId,
      viewer: `session-${sessionId}`,
      mayContinue: async () => (await findSession(db, token)) !== undefined,
    } as const
    return streams.open(request, reply, { eventId: event.eventId, dayId }, viewer)
  })
}
