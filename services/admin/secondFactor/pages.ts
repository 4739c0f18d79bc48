import { note, removeSecondFactor } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { fieldsOf, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { requireRecent, sessionOf } from '../signIn/guard.ts'
import { isOwnCode } from '../signIn/ownPassword.ts'
import { candidateOf, enrol, recoveryCodesLeft } from './store.ts'
import { codesView, enrolView, ownFactorView } from './view.ts'

/** One's own second factor: set it up, see what is left of the recovery codes, remove it. */
export function secondFactorPages(area: FastifyInstance, deps: AdminDeps): void {
  const { db } = deps

  async function show(request: FastifyRequest, reply: FastifyReply, mistake?: string) {
    const { administratorId, email, hasSecondFactor } = sessionOf(request)
    const [left, secret] = hasSecondFactor
      ? [await recoveryCodesLeft(db, administratorId), '']
      : [0, await candidateOf(db, administratorId)]
    return sendPage(request, reply, csrf => ({
      title: 'Second factor',
      section: 'account',
      body: hasSecondFactor
        ? ownFactorView({ left, mistake, csrf })
        : enrolView({ secret, email, mistake, csrf, isRequired: deps.requiresSecondFactor }),
    }))
  }

  area.register(async recent => {
    recent.addHook('preHandler', requireRecent)

    recent.get('/account/second-factor', (request, reply) => show(request, reply))

    recent.post('/account/second-factor', async (request, reply) => {
      const session = sessionOf(request)
      if (session.hasSecondFactor) return reply.redirect('/account/second-factor', 303)
      const code = textOf(fieldsOf(request), 'code').replaceAll(' ', '')
      const codes = await db.transaction().execute(async tx => {
        const made = await enrol(tx, session.administratorId, code)
        if (made !== undefined)
          await note(tx, { ...session, address: request.ip }, { action: 'second-factor-added' })
        return made
      })
      if (codes === undefined) return show(request, reply.code(400), 'Incorrect code.')
      return sendPage(request, reply, {
        title: 'Recovery codes',
        section: 'account',
        body: codesView(codes),
      })
    })

    recent.post('/account/second-factor/remove', async (request, reply) => {
      const session = sessionOf(request)
      if (!(await isOwnCode(deps, request, textOf(fieldsOf(request), 'code'))))
        return show(request, reply.code(400), 'Incorrect code.')
      await db.transaction().execute(async tx => {
        await removeSecondFactor(tx, session.administratorId)
        await note(tx, { ...session, address: request.ip }, { action: 'second-factor-removed' })
      })
      return reply.redirect('/account', 303)
    })
  })
}
