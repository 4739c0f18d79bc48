import { ApiKeyError, createKeyWithin, note, TooManyKeysError } from '@tally/access'
import type { FastifyInstance } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formFields } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { tooManyKeys } from '../http/problem.ts'
import { fieldsIn } from '../signIn/formAgain.ts'
import { sessionOf } from '../signIn/guard.ts'
import { copySoon } from './endPages.ts'
import { namedEventsOf } from './events.ts'
import { newKeyPage, readNewKey, typedBefore, typedOf } from './newKeyForm.ts'
import { tokenView } from './tokenView.ts'

/** New key: a form, and a page with the token, which is shown only once. */
export function createPages(area: FastifyInstance, deps: AdminDeps): void {
  const { db, apiUrl } = deps

  area.get('/keys/new', async (request, reply) => {
    const events = await namedEventsOf(db, request)
    return sendPage(request, reply, newKeyPage(typedBefore(fieldsIn(request), events), events))
  })

  area.post('/keys', async (request, reply) => {
    const session = sessionOf(request)
    const events = await namedEventsOf(db, request)
    const typed = typedOf(formFields(request))
    const read = readNewKey(typed, session.organizationId, events, Date.now())
    const again = (mistakes: Record<string, string>) =>
      sendPage(request, reply.code(400), newKeyPage(typed, events, mistakes))
    if ('mistakes' in read) return again(read.mistakes)
    try {
      const { stored, token } = await db.transaction().execute(async tx => {
        const made = await createKeyWithin(tx, read.wanted)
        const { keyId, name } = made.stored.key
        await note(tx, session, { action: 'key-created', subject: keyId, detail: name })
        return made
      })
      copySoon(deps, stored)
      return sendPage(request, reply.code(201), {
        title: 'Your new key',
        script: 'token.js',
        body: tokenView({ key: stored.key, token, apiUrl, events }),
      })
    } catch (error) {
      if (error instanceof TooManyKeysError) throw tooManyKeys()
      if (error instanceof ApiKeyError) return again({ eventId: 'Choose one of your events, or all events.' })
      throw error
    }
  })
}
