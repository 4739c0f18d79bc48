import { note } from '@tally/access'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { raw } from 'hono/html'
import { renderSVG } from 'uqr'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { formFields, type Mistakes, parseOr400, rowNumber } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { notFound, PageProblem } from '../http/problem.ts'
import { namedEventsOf } from '../keys/events.ts'
import { fieldsIn } from '../signIn/formAgain.ts'
import { requireRecent, sessionOf } from '../signIn/guard.ts'
import { moment } from '../views/format.ts'
import { copied, type Html, html, ownWarning } from '../views/html.ts'
import type { Page } from '../views/layout.ts'
import { type LinkTyped, readLink, typedBefore, typedOf } from './linkForm.ts'
import { shownText } from './shows.ts'
import { createScreen, listScreens, lockScreens, nameOfRevoked, revokeScreen } from './store.ts'
import { screensView } from './view.ts'

/** Links of an organization that work at the same time. */
const mostLinks = 100

const params = z.object({ screenId: rowNumber })
const asked = z.object({ revoked: rowNumber.optional() })

/** The links for screens in a hall: list, new link (which is shown once), revoke. */
export function screenLinkPages(area: FastifyInstance, { db, publicUrl }: AdminDeps): void {
  const listPage = async (
    request: FastifyRequest,
    typed: LinkTyped,
    mistakes: Mistakes = {},
  ): Promise<Page> => {
    const [screens, events] = await Promise.all([
      listScreens(db, sessionOf(request).organizationId),
      namedEventsOf(db, request),
    ])
    const body = screensView({ screens, events, typed, mistakes })
    return { title: 'Screen links', script: 'newForm.js', body }
  }

  area.get('/screens', async (request, reply) => {
    const { revoked } = parseOr400(asked, request.query)
    const name =
      revoked === undefined ? undefined : await nameOfRevoked(db, sessionOf(request).organizationId, revoked)
    const notice = name && html`“<bdi>${name}</bdi>” is revoked.`
    const page = await listPage(request, typedBefore(fieldsIn(request)))
    return sendPage(request, reply, { ...page, notice })
  })

  area.post('/screens', { preHandler: requireRecent }, async (request, reply) => {
    const session = sessionOf(request)
    const { organizationId, email: createdBy } = session
    const typed = typedOf(formFields(request))
    const read = readLink(typed, await namedEventsOf(db, request), Date.now())
    if ('mistakes' in read)
      return sendPage(request, reply.code(400), await listPage(request, typed, read.mistakes))
    const { event, area, ...wanted } = read.wanted
    const shown = shownText(wanted.shows, area)
    const token = await db.transaction().execute(async tx => {
      await lockScreens(tx, organizationId)
      if ((await listScreens(tx, organizationId)).length >= mostLinks)
        throw new PageProblem(409, 'Too many screen links', 'Revoke those that are no longer used.')
      const made = await createScreen(tx, { ...wanted, organizationId, createdBy })
      const subject = String(made.screenId)
      const until = new Date(wanted.endsAt).toISOString().slice(0, 16).replace('T', ' ')
      const detail = `${wanted.name}: ${event.name}. ${shown}, until ${until} UTC`
      await note(tx, session, { action: 'screen-created', subject, detail })
      return made.token
    })
    const base = publicUrl ?? `${request.protocol}://${request.host}`
    return sendPage(request, reply.code(201), {
      title: 'Your new screen link',
      script: 'token.js',
      body: madeView({ ...wanted, event: event.name, shown, link: `${base}/screen/${token}` }),
    })
  })

  area.post('/screens/:screenId/revoke', async (request, reply) => {
    const session = sessionOf(request)
    const { screenId } = parseOr400(params, request.params)
    await db.transaction().execute(async tx => {
      const name = await revokeScreen(tx, session.organizationId, screenId)
      if (name === undefined) throw notFound()
      await note(tx, session, { action: 'screen-revoked', subject: String(screenId), detail: name })
    })
    return reply.redirect(`/screens?revoked=${screenId}`, 303)
  })
}

type Made = { name: string; event: string; shown: string; endsAt: number; link: string }

/** A new link, which is shown only here, as text and as a code for the camera of a screen or of a phone. */
export function madeView({ name, event, shown, endsAt, link }: Made): Html {
  return html`<p class="crumb"><a href="/screens">Screen links</a></p>
<h1><bdi>${name}</bdi></h1>
<section class="card token" data-page="/screens">
<p class="warning" role="alert"><strong>Open this link once on the screen that shows <bdi>${event}</bdi>.</strong> It will not be shown again after you leave this page.</p>
<dl class="facts"><dt>Shows</dt><dd>${shown}</dd><dt>Ends</dt><dd>${moment(endsAt)}</dd></dl>
${copied('Link', link)}
<p class="hidden" role="status" id="copied"></p>
<div class="qr" role="img" aria-label="QR code with the link">${raw(renderSVG(link, { border: 4 }))}</div>
<p class="faint">The code holds the same link: whoever scans it sees the screen.</p>
${ownWarning(link)}
<p><a class="button primary" href="/screens">Done</a></p>
</section>`
}
