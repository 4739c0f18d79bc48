import { ApiKeyError, note, revokeKeyWithin, rotateKeyWithin, TooManyKeysError } from '@tally/access'
import type { FastifyInstance } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formFields, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { badForm, notFound, PageProblem, tooManyKeys } from '../http/problem.ts'
import { sessionOf } from '../signIn/guard.ts'
import { copySoon } from './copySoon.ts'
import { graces, revokeView, rotatedView, rotateView } from './endViews.ts'
import { eventsOf } from './events.ts'
import { keyOr404 } from './listPages.ts'
import { isUsable } from './state.ts'
import { tokenView } from './tokenView.ts'

type WithKeyId = { Params: { keyId: string } }

/** Ending a key: revoke (at once), and rotate (after a time in which its successor takes over). */
export function endPages(area: FastifyInstance, deps: AdminDeps): void {
  const { db, apiUrl } = deps

  for (const [action, view] of [
    ['revoke', revokeView],
    ['rotate', rotateView],
  ] as const)
    area.get<WithKeyId>(`/keys/:keyId/${action}`, async (request, reply) => {
      const key = await keyOr404(db, sessionOf(request).organizationId, request.params.keyId)
      if (!isUsable(key)) return reply.redirect(`/keys/${key.keyId}`, 303)
      return sendPage(request, reply, csrf => ({ title: key.name, section: 'keys', body: view(key, csrf) }))
    })

  area.post<WithKeyId>('/keys/:keyId/revoke', async (request, reply) => {
    const session = sessionOf(request)
    const { keyId, name } = await keyOr404(db, session.organizationId, request.params.keyId)
    const { stored } = await db.transaction().execute(async tx => {
      const revoked = await revokeKeyWithin(tx, session.organizationId, keyId)
      const what = { action: 'key-revoked', subject: keyId, detail: name } as const
      if (revoked.changed) await note(tx, { ...session, address: request.ip }, what)
      return revoked
    })
    copySoon(deps, stored)
    return reply.redirect('/keys?done=revoked', 303)
  })

  area.post<WithKeyId>('/keys/:keyId/rotate', async (request, reply) => {
    const session = sessionOf(request)
    const { organizationId } = session
    const { keyId, name } = await keyOr404(db, organizationId, request.params.keyId)
    const grace = graces.find(({ value }) => value === textOf(formFields(request), 'grace'))
    if (grace === undefined) throw badForm()
    const { old, made } = await db
      .transaction()
      .execute(async tx => {
        const rotated = await rotateKeyWithin(tx, { organizationId, keyId, oldValidForMs: grace.ms })
        const detail = `${name}: ${rotated.made.stored.key.keyId} takes over, the old one ends ${grace.name.toLowerCase()}`
        await note(tx, { ...session, address: request.ip }, { action: 'key-rotated', subject: keyId, detail })
        return rotated
      })
      .catch(asProblem)
    copySoon(deps, old, made.stored)
    const events = await eventsOf(db, organizationId)
    const { key } = made.stored
    const explained = rotatedView(old.key)
    return sendPage(request, reply.code(201), {
      title: 'Your new token',
      section: 'keys',
      script: 'token.js',
      body: tokenView({ key, token: made.token, apiUrl, anyEvent: events[0]?.eventId, explained }),
    })
  })
}

/** The key may have ended since the form was shown. */
function asProblem(error: unknown): never {
  if (error instanceof TooManyKeysError) throw tooManyKeys()
  if (!(error instanceof ApiKeyError)) throw error
  if (/not known/.test(error.message)) throw notFound()
  throw new PageProblem(
    409,
    'This key is no longer active',
    'It was revoked or has expired. Create a new key.',
  )
}
