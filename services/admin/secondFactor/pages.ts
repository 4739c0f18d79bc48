import { note } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formFields, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { PageProblem } from '../http/problem.ts'
import { requireFactor, requireRecent, sessionOf } from '../signIn/guard.ts'
import { isOwnFactor } from '../signIn/ownPassword.ts'
import { confirmSession } from '../signIn/sessions.ts'
import type { Sealer } from './sealing.ts'
import { candidateOf, enrol, recoveryCodesLeft, removeApp } from './store.ts'
import { codesPage, enrolView, ownFactorView } from './view.ts'

const needsKey = () =>
  new PageProblem(
    409,
    'A second factor cannot be set up yet',
    'Tally has no key to encrypt its secret with. Ask the team that runs Tally to set ADMIN_SECRET_KEY.',
  )

/** One's own second factor: set it up, see what is left of the recovery codes, remove it. */
export function secondFactorPages(area: FastifyInstance, deps: AdminDeps): void {
  const { db } = deps

  async function show(request: FastifyRequest, reply: FastifyReply, mistake?: string) {
    const session = sessionOf(request)
    const { administratorId, email, hasApp } = session
    const page = { title: 'Second factor', section: 'account' } as const
    if (hasApp) {
      const left = await recoveryCodesLeft(db, administratorId)
      return sendPage(request, reply, csrf => ({ ...page, body: ownFactorView({ left, mistake, csrf }) }))
    }
    const secret = await candidateOf(db, sealerOrThrow(), administratorId)
    const isRequired = deps.requiresSecondFactor && !session.hasSecondFactor
    return sendPage(request, reply, csrf => ({
      ...page,
      body: enrolView({ secret, email, mistake, csrf, isRequired }),
    }))
  }

  function sealerOrThrow(): Sealer {
    if (deps.sealer === undefined) throw needsKey()
    return deps.sealer
  }

  area.register(async proven => {
    // Who has an app enters its code to turn it off, and sets up no other one.
    const requireOwn = requireFactor(deps)
    proven.addHook('preHandler', (request, reply) =>
      (sessionOf(request).hasApp ? requireRecent : requireOwn)(request, reply),
    )

    proven.get('/account/second-factor', (request, reply) => show(request, reply))

    proven.post('/account/second-factor', async (request, reply) => {
      const session = sessionOf(request)
      if (session.hasApp) return reply.redirect('/account/second-factor', 303)
      const sealer = sealerOrThrow()
      const code = textOf(formFields(request), 'code').replaceAll(' ', '')
      const codes = await db.transaction().execute(async tx => {
        const made = await enrol(tx, sealer, session.administratorId, code)
        if (made === undefined) return undefined
        await note(tx, { ...session, address: request.ip }, { action: 'second-factor-added' })
        await confirmSession(tx, session, { isFactor: true })
        return made
      })
      if (codes === undefined) return show(request, reply.code(400), 'Incorrect code.')
      return sendPage(request, reply, codesPage(codes))
    })

    proven.post('/account/second-factor/remove', async (request, reply) => {
      const session = sessionOf(request)
      if (!session.hasApp) return reply.redirect('/account/second-factor', 303)
      const proof = { code: textOf(formFields(request), 'code'), passkey: '' }
      if (!(await isOwnFactor(deps, request, proof))) return show(request, reply.code(400), 'Incorrect code.')
      await db.transaction().execute(async tx => {
        await removeApp(tx, session.administratorId)
        await note(tx, { ...session, address: request.ip }, { action: 'second-factor-removed' })
      })
      return reply.redirect('/account', 303)
    })
  })
}
