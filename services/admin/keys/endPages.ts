import {
  type ApiKey,
  ApiKeyError,
  copyKey,
  note,
  revokeKeyWithin,
  rotateKeyWithin,
  type StoredKey,
  TooManyKeysError,
} from '@tally/access'
import type { FastifyInstance } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formFields, textOf } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { badForm, notFound, PageProblem, tooManyKeys } from '../http/problem.ts'
import { sessionOf } from '../signIn/guard.ts'
import { moment } from '../views/format.ts'
import { attribute, type Html, html } from '../views/html.ts'
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
      return sendPage(request, reply, { title: key.name, body: view(key) })
    })

  area.post<WithKeyId>('/keys/:keyId/revoke', async (request, reply) => {
    const session = sessionOf(request)
    const { keyId, name } = await keyOr404(db, session.organizationId, request.params.keyId)
    const { stored } = await db.transaction().execute(async tx => {
      const revoked = await revokeKeyWithin(tx, session.organizationId, keyId)
      if (revoked.changed) await note(tx, session, { action: 'key-revoked', subject: keyId, detail: name })
      return revoked
    })
    copySoon(deps, stored)
    return reply.redirect(`/keys?revoked=${keyId}`, 303)
  })

  area.post<WithKeyId>('/keys/:keyId/rotate', async (request, reply) => {
    const session = sessionOf(request)
    const { organizationId } = session
    const { keyId, name } = await keyOr404(db, organizationId, request.params.keyId)
    const grace = graces.find(({ value }) => value === textOf(formFields(request), 'grace'))
    if (grace === undefined) throw badForm()
    // First: once the old key has ended, nothing may keep the new token from being shown.
    const events = await eventsOf(db, organizationId)
    const { old, made } = await db
      .transaction()
      .execute(async tx => {
        const rotated = await rotateKeyWithin(tx, { organizationId, keyId, oldValidForMs: grace.ms })
        const detail = `${name}: ${rotated.made.stored.key.keyId} takes over, the old one ends ${grace.name.toLowerCase()}`
        await note(tx, session, { action: 'key-rotated', subject: keyId, detail })
        return rotated
      })
      .catch(asProblem)
    copySoon(deps, old, made.stored)
    const { key } = made.stored
    return sendPage(request, reply.code(201), {
      title: 'Your new token',
      script: 'token.js',
      body: tokenView({ key, token: made.token, apiUrl, events }, rotatedView(old.key)),
    })
  })
}

/** The key may have ended since the form was shown. */
function asProblem(error: unknown): never {
  if (error instanceof TooManyKeysError) throw tooManyKeys()
  if (!(error instanceof ApiKeyError)) throw error
  if (/not known/.test(error.message)) throw notFound()
  if (/rotated before/.test(error.message))
    throw new PageProblem(409, 'This key was rotated before', 'Rotate its successor of the same name.')
  throw new PageProblem(
    409,
    'This key is no longer active',
    'It was revoked or has expired. Create a new key.',
  )
}

const hourMs = 3_600_000

/** How long the old token stays valid after a rotation. */
const graces = [
  { value: 'now', name: 'At once', ms: 0 },
  { value: 'hour', name: 'In 1 hour', ms: hourMs },
  { value: 'day', name: 'In 1 day', ms: 24 * hourMs },
  { value: 'week', name: 'In 7 days', ms: 7 * 24 * hourMs },
]

function revokeView(key: ApiKey): Html {
  return html`<section class="card narrow">
<h1>Revoke “<bdi>${key.name}</bdi>”?</h1>
<p>Every device that uses this key is refused within a second. This cannot be undone.</p>
<p class="faint">Last used: ${moment(key.lastUsedAt)}</p>
<form method="post" action="/keys/${key.keyId}/revoke">
<div class="actions"><button class="danger">Revoke key</button><a class="button quiet" href="/keys/${key.keyId}">Cancel</a></div>
</form></section>`
}

function rotateView(key: ApiKey): Html {
  return html`<section class="card narrow">
<h1>Rotate “<bdi>${key.name}</bdi>”</h1>
<p>You get a new token with the same name, scopes, event and expiry. Choose when the old token stops working, so that you have time to update every device.</p>
<form method="post" action="/keys/${key.keyId}/rotate">
<fieldset><legend>The old token stops working</legend>
${graces.map(({ value, name }) => html`<label class="tick"><input type="radio" name="grace" value="${value}"${attribute('checked', value === 'day')}><span>${name}</span></label>`)}
</fieldset>
<div class="actions"><button class="primary">Create new token</button><a class="button quiet" href="/keys/${key.keyId}">Cancel</a></div>
</form></section>`
}

/** Until when the old key works. */
function rotatedView(old: ApiKey): Html {
  return old.revokedAt === null
    ? html`<p>The old token works until ${moment(old.expiresAt)}.</p>`
    : html`<p>The old token is revoked.</p>`
}

/**
 * Copies keys that were just created or ended to Redis, where they are needed if Postgres goes down. A Redis that is
 * down is not a failure: Postgres has the keys, and a query process writes the copies later.
 */
export function copySoon({ redis, keys, logger }: AdminDeps, ...stored: StoredKey[]): void {
  for (const one of stored)
    copyKey(redis, keys, one).catch(error =>
      logger.debug({ err: error, keyId: one.key.keyId }, 'the copy of an API key follows later'),
    )
}
