import { note } from '@tally/access'
import { name as nameShape } from '@tally/contract'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { fieldsOf, parseOr400, rowNumber, textOf } from '../http/forms.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { badForm, notFound, PageProblem } from '../http/problem.ts'
import { eventsOf, namedEventsOf } from '../keys/events.ts'
import { requireRecent, sessionOf } from '../signIn/guard.ts'
import { createScreen, listScreens, lockScreens, revokeScreen } from './store.ts'
import { madeView, screensView } from './view.ts'

/** Links of an organization that work at the same time. */
const mostLinks = 100

const params = z.object({ screenId: rowNumber })

/** The links for screens in a hall: list, new link (which is shown once), revoke. */
export function screenLinkPages(area: FastifyInstance, { db, publicUrl }: AdminDeps): void {
  area.get('/screens', async (request, reply) => {
    const { organizationId } = sessionOf(request)
    const [screens, events] = await Promise.all([
      listScreens(db, organizationId),
      namedEventsOf(db, organizationId, formatOf(request)),
    ])
    return sendPage(request, reply, csrf => ({
      title: 'Screen links',
      section: 'live',
      body: screensView(screens, events, csrf),
    }))
  })

  area.post('/screens', { preHandler: requireRecent }, async (request, reply) => {
    const session = sessionOf(request)
    const { organizationId, email: createdBy } = session
    const fields = fieldsOf(request)
    const name = parseOr400(nameShape, textOf(fields, 'name'))
    const event = (await eventsOf(db, organizationId)).find(
      ({ eventId }) => eventId === textOf(fields, 'eventId'),
    )
    if (event === undefined) throw badForm()
    const { eventId } = event
    const token = await db.transaction().execute(async tx => {
      await lockScreens(tx, organizationId)
      if ((await listScreens(tx, organizationId)).length >= mostLinks)
        throw new PageProblem(409, 'Too many screen links', 'Revoke those that are no longer used.')
      const made = await createScreen(tx, { organizationId, eventId, name, createdBy })
      const detail = `${name}: ${event.name}`
      await note(
        tx,
        { ...session, address: request.ip },
        { action: 'screen-created', subject: String(made.screenId), detail },
      )
      return made.token
    })
    const base = publicUrl ?? `${request.protocol}://${request.host}`
    return sendPage(request, reply.code(201), {
      title: 'Your new screen link',
      section: 'live',
      script: 'token.js',
      body: madeView(name, event.name, `${base}/screen/${token}`),
    })
  })

  area.post('/screens/:screenId/revoke', async (request, reply) => {
    const session = sessionOf(request)
    const { screenId } = parseOr400(params, request.params)
    await db.transaction().execute(async tx => {
      const name = await revokeScreen(tx, session.organizationId, screenId)
      if (name === undefined) throw notFound()
      const what = { action: 'screen-revoked', subject: String(screenId), detail: name } as const
      await note(tx, { ...session, address: request.ip }, what)
    })
    return reply.redirect('/screens', 303)
  })
}
