import { note } from '@tally/access'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { raw } from 'hono/html'
import { renderSVG } from 'uqr'
import type { AdminDeps } from '../deps.ts'
import { formFields, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { PageProblem } from '../http/problem.ts'
import { requireFactor, requireRecent, sessionOf } from '../signIn/guard.ts'
import { isOwnFactor } from '../signIn/ownPassword.ts'
import { confirmSession } from '../signIn/sessions.ts'
import { counted } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import type { Page } from '../views/layout.ts'
import { type Sealer, uriOf } from './codes.ts'
import { candidateOf, enrol, recoveryCodesLeft, removeApp } from './store.ts'

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
    const title = 'Second factor'
    if (hasApp) {
      const left = await recoveryCodesLeft(db, administratorId)
      return sendPage(request, reply, { title, body: ownFactorView(left, mistake) })
    }
    const secret = await candidateOf(db, sealerOrThrow(), administratorId)
    const isRequired = deps.requiresSecondFactor && !session.hasSecondFactor
    return sendPage(request, reply, { title, body: enrolView({ secret, email, mistake, isRequired }) })
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
        await note(tx, session, { action: 'second-factor-added' })
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
        const isOff = await removeApp(tx, session.administratorId)
        const detail = isOff ? null : 'the app; passkeys remain'
        await note(tx, session, { action: 'second-factor-removed', detail })
      })
      return reply.redirect('/account', 303)
    })
  })
}

type Enrolled = {
  secret: string
  email: string
  mistake: string | undefined
  isRequired: boolean
}

/** The secret for an authenticator app, and the form for its first code. */
function enrolView({ secret, email, mistake, isRequired }: Enrolled): Html {
  return html`<p class="crumb"><a href="/account">Account</a></p>
<section class="card narrow">
<h1>Set up a second factor</h1>
${isRequired ? html`<p class="warning">This installation requires a second factor. Set it up to continue.</p>` : ''}
<p>Scan the code with an authenticator app, or type the secret into it.</p>
<div class="qr" role="img" aria-label="QR code with the secret">${raw(renderSVG(uriOf(secret, email), { border: 4 }))}</div>
<p><a class="button" href="${uriOf(secret, email)}">Open the app on this device</a></p>
<p>Secret: <code>${secret.replace(/.{4}(?=.)/g, '$& ')}</code></p>
<form method="post" action="/account/second-factor">
${codeField('Code that the app shows', mistake)}
<div class="actions"><button class="primary">Turn on</button></div>
</form></section>`
}

/** What an administrator with a second factor may do about it. */
function ownFactorView(left: number, mistake: string | undefined): Html {
  return html`<p class="crumb"><a href="/account">Account</a></p>
<section class="card narrow">
<h1>Second factor</h1>
<p>Your second factor is on. ${counted(left, 'recovery code')} left. For new codes, or another app, turn it off and on again.</p>
<form method="post" action="/account/second-factor/remove">
${codeField('Code of the app, or a recovery code', mistake)}
<div class="actions"><button class="danger">Turn off</button></div>
</form></section>`
}

const textFile = (text: string): string => `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`

/** The page of the recovery codes, which are shown only here. */
export const codesPage = (codes: string[]): Page => ({
  title: 'Recovery codes',
  script: 'buttons.js',
  body: html`<section class="card narrow">
<h1>Recovery codes</h1>
<p class="warning" role="alert"><strong>Keep these codes now.</strong> They will not be shown again. Each signs you in once in place of your second factor.</p>
<ul class="codes" id="codes">${codes.map(code => html`<li><code>${code}</code></li>\n`)}</ul>
<div class="actions"><button type="button" data-copy="codes">Copy</button><a class="button" download="tally-recovery-codes.txt" href="${textFile(`Recovery codes of Tally\n${codes.join('\n')}\n`)}">Download</a><button type="button" id="print">Print</button></div>
<p class="hidden" role="status" id="copied"></p>
<p><a class="button primary" href="/account">Done, I have kept them</a></p>
</section>`,
})

/** The field for a code of somebody who has a second factor. */
export const ownCodeField = (hasApp: boolean, name: 'code' | 'password'): Html =>
  codeField(hasApp ? 'Code of your app, or a recovery code' : 'Recovery code', undefined, name)

/** The field for a code, with the reason why the last one was refused. */
const codeField = (label: string, mistake: string | undefined, name = 'code'): Html =>
  html`<label for="${name}">${label}</label>
${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}
<input id="${name}" name="${name}" autocomplete="one-time-code" required maxlength="40">`
