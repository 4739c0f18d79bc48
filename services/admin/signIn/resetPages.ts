import { finishReset, noteOf, ownerOfToken, useToken } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { fieldsOf, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { PageProblem, tooManyAttempts } from '../http/problem.ts'
import { type Html, html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'
import { countAttempt, uncountAttempt } from './attempts.ts'
import { giveDevice } from './begin.ts'
import { hashNewPassword } from './newPassword.ts'
import { newPasswordFields } from './passwordFields.ts'
import { knownAsker, queuePasswordHash } from './passwordQueue.ts'

type WithToken = { Params: { token: string } }

const expired = () =>
  new PageProblem(
    404,
    'This link has expired',
    'It works once, for 30 minutes. Ask the team that runs Tally for a new one.',
  )

/** The page of a link that `tally administrators reset` printed: sets a new password, once. */
export function resetPages(app: FastifyInstance, deps: AdminDeps): void {
  const { db } = deps
  const show = (request: FastifyRequest, reply: FastifyReply, shown: Omit<Shown, 'csrf'>) =>
    sendPage(request, reply, csrf => ({ title: 'New password', body: resetView({ ...shown, csrf }) }))

  app.get<WithToken>('/reset/:token', async (request, reply) => {
    const { token } = request.params
    const owner = await ownerOfToken(db, 'reset', token)
    if (owner === undefined) throw expired()
    return show(request, reply, { token, email: owner.email })
  })

  app.post<WithToken>('/reset/:token', async (request, reply) => {
    const { token } = request.params
    const owner = await ownerOfToken(db, 'reset', token)
    if (owner === undefined) throw expired()
    const { administratorId, email } = owner
    const { exceeded } = await countAttempt(db, 'reset', administratorId)
    if (exceeded !== undefined) throw tooManyAttempts(exceeded)
    const password = textOf(fieldsOf(request), 'password')
    const judged = await queuePasswordHash(
      knownAsker(email),
      () => hashNewPassword(deps, password, email),
      () => uncountAttempt(db, 'reset', administratorId),
    )
    if (judged.problem !== undefined)
      return show(request, reply.code(400), { token, email, mistake: `The password ${judged.problem}.` })
    await db.transaction().execute(async tx => {
      if (!(await useToken(tx, 'reset', token))) throw expired()
      await finishReset(tx, owner, judged.passwordHash)
      const from = { address: request.ip }
      await noteOf(tx, administratorId, from, { action: 'password-reset' })
      if (owner.removesSecondFactor)
        await noteOf(tx, administratorId, from, { action: 'second-factor-removed' })
    })
    await giveDevice(db, request, reply, administratorId)
    return reply.redirect('/sign-in?done=reset', 303)
  })
}

type Shown = { token: string; email: string; mistake?: string; csrf: string }

function resetView({ token, email, mistake, csrf }: Shown): Html {
  return html`<section class="card narrow">
<h1>New password</h1>
<p>For ${email}. All sessions of this account end.</p>
<form method="post" action="/reset/${token}">${csrfField(csrf)}
<input type="text" name="email" autocomplete="username" value="${email}" class="hidden" tabindex="-1" aria-hidden="true" readonly>
${newPasswordFields('password', mistake)}
<button class="primary">Set password</button>
</form>
</section>`
}
