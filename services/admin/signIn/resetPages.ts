import { finishReset, newcomersAmong, noteOf, ownerOfToken, redeemToken } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formFields, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { PageProblem, tooManyAttempts } from '../http/problem.ts'
import { type Html, html } from '../views/html.ts'
import { countAttempt, uncountAttempt } from './attempts.ts'
import { giveDevice } from './devices.ts'
import { hashNewPassword, newPasswordFields } from './ownPassword.ts'
import { knownAsker } from './passwordQueue.ts'

type WithToken = { Params: { token: string } }

const expired = () =>
  new PageProblem(
    404,
    'This link has expired',
    'It works once, for 30 minutes. Ask whoever sent it for a new one.',
  )

/** The page of a link that `tally administrators reset` printed: sets a new password, once. */
export function resetPages(app: FastifyInstance, deps: AdminDeps): void {
  const { db } = deps

  /** Whose link it is. */
  async function ownerOf(token: string) {
    const owner = await ownerOfToken(db, 'reset', token)
    if (owner === undefined) throw expired()
    return owner
  }

  async function show(request: FastifyRequest, reply: FastifyReply, token: string, mistake?: string) {
    const { administratorId, ...owner } = await ownerOf(token)
    const isFirst = (await newcomersAmong(db, [{ administratorId }])).length > 0
    return sendPage(request, reply, {
      title: isFirst ? 'Welcome' : 'New password',
      body: resetView({ ...owner, token, isFirst, mistake }),
    })
  }

  app.get<WithToken>('/reset/:token', (request, reply) => show(request, reply, request.params.token))

  app.post<WithToken>('/reset/:token', async (request, reply) => {
    const { token } = request.params
    const owner = await ownerOf(token)
    const { administratorId, email } = owner
    const { exceeded } = await countAttempt(db, 'reset', administratorId)
    if (exceeded !== undefined) throw tooManyAttempts(exceeded)
    const password = textOf(formFields(request), 'password')
    const judged = await deps.queuePasswordHash(
      knownAsker(email),
      () => hashNewPassword(deps, password, email),
      () => uncountAttempt(db, 'reset', administratorId),
    )
    if (judged.problem !== undefined)
      return show(request, reply.code(400), token, `The password ${judged.problem}.`)
    await db.transaction().execute(async tx => {
      if (!(await redeemToken(tx, 'reset', token))) throw expired()
      await finishReset(tx, owner, judged.passwordHash)
      const who = { email, address: request.ip }
      await noteOf(tx, who, { action: 'password-reset' })
      if (owner.removesSecondFactor) await noteOf(tx, who, { action: 'second-factor-removed' })
    })
    deps.recall.forget(administratorId)
    await giveDevice(db, request, reply, administratorId)
    return reply.redirect('/sign-in?done=reset', 303)
  })
}

type Shown = {
  token: string
  email: string
  removesSecondFactor: boolean
  isFirst: boolean
  mistake: string | undefined
}

function resetView({ token, email, removesSecondFactor, isFirst, mistake }: Shown): Html {
  return html`<section class="card narrow">
<h1>${isFirst ? 'Welcome to Tally. Choose a password.' : 'New password'}</h1>
<p>For ${email}.${isFirst ? '' : ' All sessions of this account end.'}${removesSecondFactor ? ' Its second factor is turned off.' : ''}</p>
<form method="post" action="/reset/${token}">
<input type="text" name="email" autocomplete="username" value="${email}" class="hidden" tabindex="-1" aria-hidden="true" readonly>
${newPasswordFields(mistake)}
<button class="primary">Set password</button>
</form>
</section>`
}
