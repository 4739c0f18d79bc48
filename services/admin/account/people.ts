import {
  type Administrator,
  AdministratorError,
  beginReset,
  createAdministrator,
  email as emailShape,
  hashPassword,
  listAdministrators,
  newToken,
  note,
  removeAdministrator,
} from '@tally/access'
import { lockName, type Tx } from '@tally/platform'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { type Fields, formFields, parseOr400, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { notFound, PageProblem } from '../http/problem.ts'
import { fieldsIn } from '../signIn/formAgain.ts'
import { requireRecent, sessionOf } from '../signIn/guard.ts'
import { knownAsker, queuePasswordHash } from '../signIn/passwordQueue.ts'
import { invitedView, mayRemove, peopleView } from './peopleView.ts'

/** Administrators that an organization may have invited by this page. */
const mostPeople = 100

const params = z.object({ administratorId: z.uuid() })

/** The administrators of an organization: list, invite by a link, remove. */
export function peoplePages(area: FastifyInstance, deps: AdminDeps): void {
  const { db, allowsPasswords } = deps
  const peopleOf = (request: FastifyRequest) => listAdministrators(db, sessionOf(request).organizationId)

  async function show(request: FastifyRequest, reply: FastifyReply, typed: Fields, mistake?: string) {
    const [people, session] = [await peopleOf(request), sessionOf(request)]
    const email = textOf(typed, 'email')
    return sendPage(request, reply, csrf => ({
      title: 'People',
      section: 'account',
      body: peopleView({ people, session, email, mistake, allowsPasswords, csrf }),
    }))
  }

  area.get('/account/people', (request, reply) => show(request, reply, fieldsIn(request)))

  const recent = { preHandler: requireRecent }
  area.post('/account/people', recent, async (request, reply) => {
    const fields = formFields(request)
    const email = emailShape.safeParse(textOf(fields, 'email')).data
    if (email === undefined) return show(request, reply.code(400), fields, 'This is not an e-mail address.')
    const invited = await invite(request, email)
    if ('mistake' in invited) return show(request, reply.code(409), fields, invited.mistake)
    if (!allowsPasswords) return reply.redirect('/account/people', 303)
    const base = deps.publicUrl ?? `${request.protocol}://${request.host}`
    return sendPage(request, reply.code(201), {
      title: 'Invited',
      section: 'account',
      script: 'token.js',
      body: invitedView(email, `${base}/reset/${invited.token}`),
    })
  })

  /** Runs one change of an organization's people at a time; 404 if who makes it was removed meanwhile. */
  const changePeople = <Result>(
    request: FastifyRequest,
    change: (tx: Tx, people: Administrator[]) => Promise<Result>,
  ): Promise<Result> =>
    db.transaction().execute(async tx => {
      const { organizationId, administratorId } = sessionOf(request)
      await lockName(tx, `tally people of ${organizationId}`)
      const people = await listAdministrators(tx, organizationId)
      if (!people.some(one => one.administratorId === administratorId)) throw notFound()
      return change(tx, people)
    })

  /** Creates the administrator with a random password, until a new one is set with the link. */
  async function invite(
    request: FastifyRequest,
    email: string,
  ): Promise<{ token: string } | { mistake: string }> {
    const session = sessionOf(request)
    const { organizationId } = session
    const passwordHash = await queuePasswordHash(knownAsker(session.email), () =>
      hashPassword(newToken(), deps.passwordCost),
    )
    return changePeople(request, async (tx, people) => {
      if (people.length >= mostPeople) throw tooManyPeople()
      await createAdministrator(tx, { organizationId, email, isPlatform: false, passwordHash })
      await note(tx, { ...session, address: request.ip }, { action: 'administrator-created', subject: email })
      return beginReset(tx, email)
    }).catch(error => {
      if (error instanceof AdministratorError) return { mistake: `${error.message}.` }
      throw error
    })
  }

  area.post('/account/people/:administratorId/remove', recent, async (request, reply) => {
    const session = sessionOf(request)
    const { administratorId } = parseOr400(params, request.params)
    await changePeople(request, async (tx, people) => {
      const person = people.find(one => one.administratorId === administratorId)
      if (person === undefined || !mayRemove(person, session)) throw notFound()
      await removeAdministrator(tx, person.email)
      const what = { action: 'administrator-removed', subject: person.email } as const
      await note(tx, { ...session, address: request.ip }, what)
    })
    return reply.redirect('/account/people', 303)
  })
}

const tooManyPeople = () =>
  new PageProblem(409, 'Too many people', 'Remove those who no longer need access, and try again.')
