import { note } from '@tally/access'
import { name as nameShape } from '@tally/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { formFields, parseOr400, rowNumber, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { notFound, PageProblem } from '../http/problem.ts'
import { codesPage } from '../secondFactor/pages.ts'
import { endFactor, newCodesOf } from '../secondFactor/store.ts'
import { requireFactor, sessionOf } from '../signIn/guard.ts'
import { passkeyMistake } from '../signIn/proveFactor.ts'
import { confirmSession } from '../signIn/sessions.ts'
import { moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { askForNew } from './asking.ts'
import { judgeNew } from './judging.ts'
import { addPasskey, type ListedPasskey, listPasskeys, mostPasskeys, removePasskey } from './store.ts'

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
    return sendPage(request, reply, {
      title: 'Passkeys',
      script: 'passkey.js',
      body: passkeysView({ passkeys, options, mistake }),
    })
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
        await note(tx, session, { action: 'passkey-added', subject: name })
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
      const passkeys = await listPasskeys(db, session.administratorId)
      const [only] = passkeys
      const isLast = passkeys.length === 1 && only?.passkeyId === passkeyId && !session.hasApp
      if (isLast && textOf(formFields(request), 'sure') !== 'yes')
        return sendPage(request, reply, {
          title: 'Turn off your second factor',
          body: lastView(only, deps.requiresSecondFactor),
        })
      await db.transaction().execute(async tx => {
        const name = await removePasskey(tx, session.administratorId, passkeyId)
        if (name === undefined) throw notFound()
        await note(tx, session, { action: 'passkey-removed', subject: name })
        if (await endFactor(tx, session.administratorId))
          await note(tx, session, { action: 'second-factor-removed' })
      })
      return reply.redirect('/account/passkeys', 303)
    })
  })
}

const tooMany = () =>
  new PageProblem(409, 'Too many passkeys', `An account has at most ${mostPasskeys}. Remove one first.`)

type Shown = {
  passkeys: ListedPasskey[]
  /** What a browser needs to make one; undefined if the area's address allows none. */
  options: string | undefined
  mistake: string | undefined
}

/** One's own passkeys, and the form for a new one. */
function passkeysView({ passkeys, options, mistake }: Shown): Html {
  return html`<p class="crumb"><a href="/account">Account</a></p>
<h1>Passkeys</h1>
<section class="card">
<p>A passkey is a second factor: a security key, or the lock of a phone or a computer. A sign-in with the password also asks for one of them.</p>
${passkeys.length === 0 ? html`<p class="faint">No passkeys.</p>` : passkeyTable(passkeys)}
</section>
<section class="card form"><h2>New passkey</h2>
${newForm({ passkeys, options, mistake })}
</section>`
}

function newForm({ passkeys, options, mistake }: Shown): Html {
  if (options === undefined)
    return html`<p>Passkeys need a host name: open this area by its name, such as localhost, not by an IP address.</p>`
  if (passkeys.length >= mostPasskeys)
    return html`<p>You have ${mostPasskeys} passkeys. Remove one first.</p>`
  return passkeyForm({
    action: '/account/passkeys',
    kind: 'create',
    options,
    button: 'Create passkey',
    fields: html`<label for="name">Name</label>
<input id="name" name="name" required maxlength="200" autocomplete="off" aria-describedby="name-rule">
<p class="faint" id="name-rule">Such as the device that keeps it.</p>`,
    mistake,
  })
}

function passkeyTable(passkeys: ListedPasskey[]): Html {
  return html`<table>
<caption class="hidden">Your passkeys</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Created</th><th scope="col">Last used</th><th scope="col"><span class="hidden">Remove</span></th></tr></thead>
<tbody>${passkeys.map(
    ({ passkeyId, name, createdAt, lastUsedAt }) => html`<tr>
<td data-label="Name"><bdi>${name}</bdi></td>
<td data-label="Created">${moment(createdAt)}</td>
<td data-label="Last used">${lastUsedAt === null ? 'never' : moment(lastUsedAt)}</td>
<td><form method="post" action="/account/passkeys/${passkeyId}/remove"><button class="danger" aria-label="Remove ${name}">Remove</button></form></td></tr>`,
  )}</tbody></table>`
}

/** Asks before the last second factor ends. */
function lastView({ passkeyId, name }: ListedPasskey, isRequired: boolean): Html {
  return html`<section class="card narrow">
<h1>Turn off your second factor?</h1>
<p>“<bdi>${name}</bdi>” is your only second factor. Without it your recovery codes end, too. ${
    isRequired
      ? 'This installation requires a second factor: to set up another one, you need a link of the team that runs Tally.'
      : 'A sign-in will ask for the password only.'
  }</p>
<form method="post" action="/account/passkeys/${passkeyId}/remove">
<input type="hidden" name="sure" value="yes">
<div class="actions"><button class="danger">Remove and turn off</button><a class="button quiet" href="/account/passkeys">Cancel</a></div>
</form></section>`
}

type PasskeyForm = {
  action: string
  kind: 'create' | 'get'
  options: string
  button: string
  fields?: Html
  mistake?: string | undefined
}

/** A form that is sent with what the browser says of a passkey (assets/passkey.js). */
export function passkeyForm({ action, kind, options, button, fields, mistake }: PasskeyForm): Html {
  return html`<form method="post" action="${action}" data-passkey="${kind}" data-options="${options}">
<input type="hidden" name="passkey">
${fields ?? ''}
<p class="mistake" role="alert">${mistake ?? ''}</p>
<div class="actions"><button class="primary">${button}</button></div>
</form>`
}
