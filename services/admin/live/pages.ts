import { readEventsOf } from '@tally/figures'
import type { FastifyInstance } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { sessionToken } from '../signIn/cookies.ts'
import { sessionOf } from '../signIn/guard.ts'
import { findSession } from '../signIn/sessions.ts'
import { itemPage } from './itemPage.ts'
import { readLastFestival } from './lastFestival.ts'
import { pickDay, pickOfAll } from './pick.ts'
import type { Streams } from './stream.ts'
import { liveView, noEventsView } from './view.ts'

/** The live screen: the sales of one event and day as they happen. */
export function livePages(area: FastifyInstance, deps: AdminDeps, streams: Streams): void {
  const { db, live } = deps
  itemPage(area, deps)
  area.get('/', async (_, reply) => reply.redirect('/live', 303))

  area.get('/live', async (request, reply) => {
    const picked = await pickOfAll(db, request)
    if (picked === undefined) return sendPage(request, reply, { title: 'Live', body: noEventsView() })
    const { event, dayId, areaId } = picked
    const ref = { eventId: event.eventId, dayId: dayId ?? 0, areaId }
    const [first, last] = await Promise.all([
      dayId === undefined ? undefined : live.read(ref),
      readLastFestival(db, picked),
    ])
    return sendPage(request, reply, {
      title: event.name,
      script: 'live.js',
      isCompressed: true,
      body: liveView(picked, { first, last, format: formatOf(request) }),
    })
  })

  area.get('/live/stream', async (request, reply) => {
    const { event, dayId, areaId } = await pickDay(db, request)
    const showing = { eventId: event.eventId, dayId, areaId }
    const { organizationId, sessionId } = sessionOf(request)
    const token = sessionToken(request) ?? ''
    const isThere = async () =>
      (await findSession(db, token)) !== undefined &&
      (await readEventsOf(db, organizationId, event.eventId)).length > 0
    const shows = async () => ((await isThere()) ? showing : undefined)
    const viewer = { organizationId, viewer: `session-${sessionId}`, shows } as const
    return streams.open(request, reply, showing, viewer)
  })
}
