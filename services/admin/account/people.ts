import {
  type Administrator,
  AdministratorError,
  beginReset,
  createAdministrator,
  email as emailShape,
  hashPassword,
  listAdministrators,
  newcomersAmong,
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
import { knownAsker } from '../signIn/passwordQueue.ts'
import type { Session } from '../signIn/sessions.ts'
import { moment } from '../views/format.ts'
import { copied, type Html, html, ownWarning } from '../views/html.ts'

/** Administrators that an organization may have invited by this page. */
const mostPeople = 100

const params = z.object({ administratorId: z.uuid() })

/** The administrators of an organization: list, invite by a link, remove. */
export function peoplePages(area: FastifyInstance, deps: AdminDeps): void {
  const { db, allowsPasswords } = deps

  async function show(request: FastifyRequest, reply: FastifyReply, typed: Fields, mistake?: string) {
    const session = sessionOf(request)
    const people = await listAdministrators(db, session.organizationId)
    const newcomers = await newcomersAmong(db, people)
    const email = textOf(typed, 'email')
    return sendPage(request, reply, {
      title: 'People',
      body: peopleView({ people, newcomers, session, email, mistake, allowsPasswords }),
    })
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
    const passwordHash = await deps.queuePasswordHash(knownAsker(session.email), () =>
      hashPassword(newToken(), deps.passwordCost),
    )
    return changePeople(request, async (tx, people) => {
      if (people.length >= mostPeople) throw tooManyPeople()
      await createAdministrator(tx, { organizationId, email, isPlatform: false, passwordHash })
      await note(tx, session, { action: 'administrator-created', subject: email })
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
      await note(tx, session, { action: 'administrator-removed', subject: person.email })
    })
    return reply.redirect('/account/people', 303)
  })
}

const tooManyPeople = () =>
  new PageProblem(409, 'Too many people', 'Remove those who no longer need access, and try again.')

type PeopleShown = {
  people: Administrator[]
  newcomers: string[]
  session: Session
  /** As typed before. */
  email: string
  mistake: string | undefined
  allowsPasswords: boolean
}

/** One's own account stays, and those of the platform team, which sees all organizations. */
const mayRemove = (person: Administrator, { administratorId }: { administratorId: string }): boolean =>
  !person.isPlatform && person.administratorId !== administratorId

function peopleView({ people, newcomers, session, email, ...shown }: PeopleShown): Html {
  const { mistake, allowsPasswords } = shown
  const how = allowsPasswords
    ? 'You get a link to send them. They use it to choose a password.'
    : 'They sign in through your identity provider with this address.'
  return html`<h1>People</h1>
<p class="faint">Everyone here can manage API keys, screen links and people of ${session.organizationName}. For someone who only needs to look, create a <a href="/screens">screen link</a> that shows money.</p>
<div class="card table"><table>
<caption class="hidden">People who may sign in</caption>
<thead><tr><th scope="col">E-mail</th><th scope="col">Second factor</th><th scope="col">Since</th><th scope="col"><span class="hidden">Remove</span></th></tr></thead>
<tbody>${people.map(person => personRow(person, newcomers, session))}</tbody></table></div>
<section class="card form"><h2>Invite</h2>
<p class="faint">${how}</p>
<form method="post" action="/account/people">
<label for="email">E-mail</label>
${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}
<input id="email" name="email" type="email" required maxlength="254" autocomplete="off" value="${email}">
<div class="actions"><button class="primary">Invite</button></div>
</form></section>`
}

function personRow(person: Administrator, newcomers: string[], session: Session): Html {
  const { administratorId, email, isPlatform, hasSecondFactor, createdAt } = person
  const isOwn = administratorId === session.administratorId
  return html`<tr>
<td data-label="E-mail">${email}${isOwn ? html` <span class="badge good">you</span>` : ''}${isPlatform ? html` <span class="badge">platform team</span>` : ''}${newcomers.includes(administratorId) ? html` <span class="badge ending">not signed in yet</span>` : ''}</td>
<td data-label="2nd factor">${hasSecondFactor ? 'yes' : 'no'}</td>
<td data-label="Since">${moment(createdAt)}</td>
<td>${
    mayRemove(person, session)
      ? html`<details><summary class="button danger" aria-label="Remove ${email}">Remove</summary>
<form method="post" action="/account/people/${administratorId}/remove"><p>They are signed out within seconds.</p><button class="danger">Yes, remove</button></form></details>`
      : ''
  }</td></tr>`
}

/** The link of an invitation, which is shown only here. */
const invitedView = (email: string, link: string): Html =>
  html`<p class="crumb"><a href="/account/people">People</a></p>
<h1>${email}</h1>
<section class="card token" data-page="/account/people">
<p class="warning" role="alert"><strong>Send this link to them.</strong> It works once, for 30 minutes, and will not be shown again. If it expires unused, remove them and invite them again.</p>
${copied('Link', link)}
<p class="hidden" role="status" id="copied"></p>
${ownWarning(link)}
<p><a class="button primary" href="/account/people">Done</a></p>
</section>`
