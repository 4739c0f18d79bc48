import { note } from '@tally/access'
import { name as nameShape } from '@tally/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { formFields, parseOr400, rowNumber, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { notFound, PageProblem } from '../http/problem.ts'
import { endFactor, newCodesOf } from '../secondFactor/store.ts'
import { codesPage } from '../secondFactor/view.ts'
import { requireFactor, sessionOf } from '../signIn/guard.ts'
import { passkeyMistake } from '../signIn/proveFactor.ts'
import { confirmSession } from '../signIn/sessions.ts'
import { askForNew } from './asking.ts'
import { judgeNew } from './judging.ts'
import { addPasskey, listPasskeys, mostPasskeys, removePasskey } from './store.ts'
import { lastView, passkeysView } from './view.ts'

const params = z.object({ passkeyId: rowNumber })

/** One's own passkeys: list, add, remove. */
export function passkeyPages(area: FastifyInstance, deps: AdminDeps): void {
  const { db, logger } = deps

  async function show(request: FastifyRequest, reply: FastifyReply, mistake?: string) {
    const session = sessionOf(request)
    const [passkeys, options] = await Promise.all([
      listPasskeys(db, session.administratorId),
      askForNew(deps, request, session),
    ])
    return sendPage(request, reply, csrf => ({
      title: 'Passkeys',
      section: 'account',
      script: 'passkey.js',
      body: passkeysView({ passkeys, options, mistake, csrf }),
    }))
  }

  area.register(async proven => {
    proven.addHook('preHandler', requireFactor(deps))

    proven.get('/account/passkeys', (request, reply) => show(request, reply))

    proven.post('/account/passkeys', async (request, reply) => {
      const session = sessionOf(request)
      const fields = formFields(request)
      const name = nameShape.safeParse(textOf(fields, 'name')).data
      if (name === undefined) return show(request, reply.code(400), 'A name has 1 to 200 characters.')
      const { administratorId } = session
      const made = await db.transaction().execute(async tx => {
        const judged = { tx, request, logger, administratorId }
        const passkey = await judgeNew(judged, textOf(fields, 'passkey'))
        if (passkey === undefined) return undefined
        if (!(await addPasskey(tx, administratorId, name, passkey))) throw tooMany()
        await note(tx, { ...session, address: request.ip }, { action: 'passkey-added', subject: name })
        await confirmSession(tx, session, { isFactor: true })
        return { codes: session.hasSecondFactor ? [] : await newCodesOf(tx, administratorId) }
      })
      if (made === undefined) return show(request, reply.code(400), passkeyMistake)
      if (made.codes.length === 0) return reply.redirect('/account/passkeys', 303)
      return sendPage(request, reply, codesPage(made.codes))
    })

    proven.post('/account/passkeys/:passkeyId/remove', async (request, reply) => {
      const session = sessionOf(request)
      const { passkeyId } = parseOr400(params, request.params)
      const actor = { ...session, address: request.ip }
      const passkeys = await listPasskeys(db, session.administratorId)
      const [only] = passkeys
      const isLast = passkeys.length === 1 && only?.passkeyId === passkeyId && !session.hasApp
      if (isLast && textOf(formFields(request), 'sure') !== 'yes')
        return sendPage(request, reply, csrf => ({
          title: 'Turn off your second factor',
          section: 'account',
          body: lastView(only, csrf, deps.requiresSecondFactor),
        }))
      await db.transaction().execute(async tx => {
        const name = await removePasskey(tx, session.administratorId, passkeyId)
        if (name === undefined) throw notFound()
        await note(tx, actor, { action: 'passkey-removed', subject: name })
        if (await endFactor(tx, session.administratorId))
          await note(tx, actor, { action: 'second-factor-removed' })
      })
      return reply.redirect('/account/passkeys', 303)
    })
  })
}

const tooMany = () =>
  new PageProblem(409, 'Too many passkeys', `An account has at most ${mostPasskeys}. Remove one first.`)
