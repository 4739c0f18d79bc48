import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { fieldsOf, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { type Html, html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'
import { ownPath, sessionOf } from './guard.ts'
import { isOwnPassword } from './ownPassword.ts'
import { confirmSession } from './sessions.ts'

/** Asks who is signed in for the password again, before a page that needs a recent sign-in. */
export function confirmPages(area: FastifyInstance, deps: AdminDeps): void {
  const show = (request: FastifyRequest, reply: FastifyReply, next: string, mistake?: string) =>
    sendPage(request, reply, csrf => ({
      title: 'Confirm that it is you',
      body: confirmView({ email: sessionOf(request).email, next, mistake, csrf }),
    }))

  area.get<{ Querystring: { next?: unknown } }>('/confirm', (request, reply) =>
    show(request, reply, ownPath(request.query.next)),
  )

  area.post('/confirm', async (request, reply) => {
    const fields = fieldsOf(request)
    const next = ownPath(textOf(fields, 'next'))
    if (!(await isOwnPassword(deps, request, textOf(fields, 'password'))))
      return show(request, reply.code(401), next, 'Incorrect password.')
    await confirmSession(deps.db, sessionOf(request))
    return reply.redirect(next, 303)
  })
}

type Shown = { email: string; next: string; mistake: string | undefined; csrf: string }

function confirmView({ email, next, mistake, csrf }: Shown): Html {
  return html`<section class="card narrow">
<h1>Confirm that it is you</h1>
<p>You signed in more than 30 minutes ago. Enter your password to continue.</p>
${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}
<form method="post" action="/confirm">${csrfField(csrf)}
<input type="hidden" name="next" value="${next}">
<input type="text" name="email" autocomplete="username" value="${email}" class="hidden" tabindex="-1" aria-hidden="true" readonly>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<div class="actions"><button class="primary">Continue</button></div>
</form>
</section>`
}
