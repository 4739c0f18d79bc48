import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { fieldsOf, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { type Html, html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'
import { ownPath, sessionOf } from './guard.ts'
import { isOwnCode, isOwnPassword } from './ownPassword.ts'
import { confirmSession, type Session } from './sessions.ts'

/**
 * Asks who is signed in for the password or a code again, before a page that needs a recent sign-in. Who came through
 * the OpenID provider proves it there.
 */
export function confirmPages(area: FastifyInstance, deps: AdminDeps): void {
  const show = (request: FastifyRequest, reply: FastifyReply, next: string, mistake?: string) => {
    const session = sessionOf(request)
    return sendPage(request, reply, csrf => ({
      title: 'Confirm that it is you',
      body: html`<section class="card narrow">
<h1>Confirm that it is you</h1>
<p>You must have signed in within the last 30 minutes.</p>
${session.isOidc || !deps.allowsPasswords ? elsewhere(next) : form({ session, next, mistake, csrf })}
</section>`,
    }))
  }

  area.get<{ Querystring: { next?: unknown } }>('/confirm', (request, reply) =>
    show(request, reply, ownPath(request.query.next)),
  )

  if (deps.allowsPasswords)
    area.post('/confirm', async (request, reply) => {
      const session = sessionOf(request)
      const fields = fieldsOf(request)
      const next = ownPath(textOf(fields, 'next'))
      if (session.isOidc) return show(request, reply.code(403), next)
      const given = textOf(fields, 'password')
      const isCode = session.hasSecondFactor && /^\d{3} ?\d{3}$/.test(given)
      if (!(await (isCode ? isOwnCode : isOwnPassword)(deps, request, given)))
        return show(request, reply.code(401), next, isCode ? 'Incorrect code.' : 'Incorrect password.')
      await confirmSession(deps.db, session)
      return reply.redirect(next, 303)
    })
}

const elsewhere = (next: string): Html =>
  html`<p><a class="button primary" href="/sign-in/oidc?fresh=yes&next=${encodeURIComponent(next)}">Sign in again with your organization</a></p>`

type Shown = { session: Session; next: string; mistake: string | undefined; csrf: string }

const form = ({ session: { email, hasSecondFactor }, next, mistake, csrf }: Shown): Html =>
  html`<p>Enter your password${hasSecondFactor ? ', or a code of your app,' : ''} to continue.</p>
${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}
<form method="post" action="/confirm">${csrfField(csrf)}
<input type="hidden" name="next" value="${next}">
<input type="text" name="email" autocomplete="username" value="${email}" class="hidden" tabindex="-1" aria-hidden="true" readonly>
<label for="password">${hasSecondFactor ? 'Password or code' : 'Password'}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<div class="actions"><button class="primary">Continue</button></div>
</form>`
