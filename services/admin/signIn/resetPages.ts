import { finishReset, noteOf, ownerOfToken, useToken } from '@tally/access'
import type { Postgres } from '@tally/storage'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
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
    sendPage(request, reply, csrf => ({
      title: shown.isFirst ? 'Welcome' : 'New password',
      body: resetView({ ...shown, csrf }),
    }))

  app.get<WithToken>('/reset/:token', async (request, reply) => {
    const { token } = request.params
    const owner = await ownerOfToken(db, 'reset', token)
    if (owner === undefined) throw expired()
    return show(request, reply, { token, email: owner.email, isFirst: await isFirstPassword(db, owner) })
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
    if (judged.problem !== undefined) {
      const isFirst = await isFirstPassword(db, owner)
      return show(request, reply.code(400), {
        token,
        email,
        isFirst,
        mistake: `The password ${judged.problem}.`,
      })
    }
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

/** Whether the owner of a link was invited, and has never signed in or set a password. */
async function isFirstPassword(
  db: Postgres,
  { administratorId }: { administratorId: string },
): Promise<boolean> {
  const { rows } = await sql`
select from administrators as administrator join audit_entries as entry using (organization_id, email)
where administrator_id = ${administratorId}
  and action in ('sign-in', 'sign-in-oidc', 'sign-in-recovery', 'password-changed', 'password-reset')
limit 1`.execute(db)
  return rows.length === 0
}

type Shown = { token: string; email: string; isFirst: boolean; mistake?: string; csrf: string }

function resetView({ token, email, isFirst, mistake, csrf }: Shown): Html {
  return html`<section class="card narrow">
<h1>${isFirst ? 'Welcome to Tally. Choose a password.' : 'New password'}</h1>
<p>For ${email}.${isFirst ? '' : ' All sessions of this account end.'}</p>
<form method="post" action="/reset/${token}">${csrfField(csrf)}
<input type="text" name="email" autocomplete="username" value="${email}" class="hidden" tabindex="-1" aria-hidden="true" readonly>
${newPasswordFields('password', mistake)}
<button class="primary">Set password</button>
</form>
</section>`
}
