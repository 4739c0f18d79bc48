import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formFields, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { askForSignature } from '../passkeys/asking.ts'
import { type Html, html } from '../views/html.ts'
import { confirmForms } from './confirmView.ts'
import { ownPath } from './formAgain.ts'
import { sessionOf } from './guard.ts'
import { isOwnFactor, isOwnPassword } from './ownPassword.ts'
import { mistakeOf } from './proveFactor.ts'
import { confirmSession } from './sessions.ts'

/** What is asked for: the password or the second factor, or the second factor only. */
type Asked = { next: string; isFactorOnly: boolean }

const askedOf = (given: { next?: unknown; factor?: unknown }): Asked => ({
  next: ownPath(given.next),
  isFactorOnly: given.factor === 'yes',
})

/**
 * Asks who is signed in for the password or the second factor again, before a page that needs a recent sign-in. Who
 * came through the OpenID provider proves it there.
 */
export function confirmPages(area: FastifyInstance, deps: AdminDeps): void {
  const show = async (request: FastifyRequest, reply: FastifyReply, asked: Asked, mistake?: string) => {
    const session = sessionOf(request)
    const isElsewhere = !deps.allowsPasswords || (session.isOidc && !asked.isFactorOnly)
    const options = isElsewhere ? undefined : await askForSignature(deps, request, session.administratorId)
    return sendPage(request, reply, csrf => ({
      title: 'Confirm that it is you',
      ...(options === undefined ? {} : { script: 'passkey.js' }),
      body: html`<section class="card narrow">
<h1>Confirm that it is you</h1>
<p>You must have signed in within the last 30 minutes.</p>
${isElsewhere ? elsewhere(asked.next) : confirmForms({ session, ...asked, options, mistake, csrf })}
</section>`,
    }))
  }

  area.get<{ Querystring: { next?: unknown; factor?: unknown } }>('/confirm', (request, reply) =>
    show(request, reply, askedOf(request.query)),
  )

  if (deps.allowsPasswords)
    area.post('/confirm', async (request, reply) => {
      const session = sessionOf(request)
      const fields = formFields(request)
      const asked = askedOf(fields)
      if (session.isOidc && !asked.isFactorOnly) return show(request, reply.code(403), asked)
      const proof = { code: textOf(fields, 'password'), passkey: textOf(fields, 'passkey') }
      const isCode = asked.isFactorOnly || (session.hasApp && /^\d{3} ?\d{3}$/.test(proof.code))
      const isFactor = isCode || proof.passkey !== ''
      const isProven = isFactor
        ? await isOwnFactor(deps, request, proof)
        : await isOwnPassword(deps, request, proof.code)
      if (!isProven)
        return show(request, reply.code(401), asked, isFactor ? mistakeOf(proof) : 'Incorrect password.')
      await confirmSession(deps.db, session, { isFactor })
      return reply.redirect(asked.next, 303)
    })
}

const elsewhere = (next: string): Html =>
  html`<p><a class="button primary" href="/sign-in/oidc?fresh=yes&next=${encodeURIComponent(next)}">Sign in again with your organization</a></p>`
