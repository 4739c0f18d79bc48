import type { Postgres } from '@tally/platform'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { AdminDeps } from '../deps.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { PageProblem } from '../http/problem.ts'
import { countAttempt, uncountAttempt } from '../signIn/attempts.ts'
import { knownDevice } from '../signIn/devices.ts'
import { ownPath } from '../signIn/formAgain.ts'
import { sessionOf } from '../signIn/guard.ts'
import { noteRefused, throwIfExceeded } from '../signIn/refusals.ts'
import { counted, moment } from '../views/format.ts'
import { html } from '../views/html.ts'
import { recoveryCodeOf } from './codes.ts'
import type { useCode } from './store.ts'

/** How a wrong code from a browser that the account does not know is noted; readWrongCodes looks for it. */
const newBrowser = 'from a new browser'

/** Wrong codes in a day, after which the log has a warning: no owner mistypes that often. */
const warnsAt = 10

const tooManyCodes = ({ waitSeconds }: { waitSeconds: number }) =>
  new PageProblem(
    429,
    'Too many wrong codes',
    `Codes of your app are accepted again in ${counted(Math.ceil(waitSeconds / 3_600), 'hour')}. Until then, go back and enter a recovery code, or use a browser in which you have signed in before.`,
    waitSeconds,
  )

type Entered = { administratorId: string; email: string; typed: string }

/**
 * Lets `use` check a code, of someone who gave the right password or has a session, and notes a wrong one. Wrong codes
 * of apps are counted apart, for each known browser and for all others together, so that neither a stolen password nor
 * a stolen session allows many guesses; throws a 429 beyond the limit. Recovery codes are too long to guess.
 */
export async function checkCode(
  deps: AdminDeps,
  request: FastifyRequest,
  { administratorId, email, typed }: Entered,
  use: () => ReturnType<typeof useCode>,
): ReturnType<typeof useCode> {
  const { db } = deps
  const refusal = { account: email, address: request.ip }
  const device = await knownDevice(db, request, email)
  const detail = device === undefined ? newBrowser : 'from a known browser'
  const subject = device ?? administratorId
  const isOfApp = recoveryCodeOf(typed) === undefined
  const attempt = isOfApp ? await countAttempt(db, 'code', subject) : undefined
  await throwIfExceeded(deps, refusal, attempt?.exceeded, tooManyCodes)
  const giveBack = async () => isOfApp && uncountAttempt(db, 'code', subject)
  const used = await use().catch(async error => {
    await giveBack()
    throw error
  })
  if (used !== undefined) await giveBack()
  else await noteRefused(deps, refusal, { action: 'code-refused', detail })
  if (used === undefined && attempt?.attempts === warnsAt)
    deps.logger.warn({ administratorId, address: request.ip }, `${warnsAt} wrong codes of a second factor`)
  return used
}

/** One or two may be the owner's, who mistyped on a new device. */
const worthTelling = 3

/** Entries of an organization that are looked through: after a long attack, the latest say enough. */
const mostEntries = 10_000

type WrongCodes = { count: number; since: number }

/**
 * Wrong codes that were entered for an administrator within seven days from browsers that were new, since the password
 * changed last; undefined if they are few. A sign-in does not reset them: it may have been the attacker's.
 */
async function readWrongCodes(db: Postgres, administratorId: string): Promise<WrongCodes | undefined> {
  const { rows } = await sql<WrongCodes>`
with latest as (
  select entry.at, entry.action, entry.detail, entry.email = administrator.email as is_own
  from administrators as administrator
  join audit_entries as entry using (organization_id)
  where administrator_id = ${administratorId}
  order by audit_id desc limit ${mostEntries}
), own as (
  select at, action, detail from latest where is_own and at > now() - interval '7 days'
)
select count(*)::int as count, min(at) as since from own
where action = 'code-refused' and detail = ${newBrowser} and at > coalesce(
  (select max(at) from own where action in ('password-changed', 'password-reset')), '-infinity'
)`.execute(db)
  const [found] = rows
  return found !== undefined && found.count >= worthTelling ? found : undefined
}

const path = '/account/wrong-codes'

/** Where a sign-in leads: to `next`, or first to the page that warns of wrong codes. */
export async function afterSignIn(db: Postgres, administratorId: string, next: string): Promise<string> {
  const wrong = await readWrongCodes(db, administratorId)
  return wrong === undefined ? next : `${path}?next=${encodeURIComponent(next)}`
}

/** Tells the owner of an account that someone else seems to know its password. */
export function wrongCodesPage(area: FastifyInstance, { db }: AdminDeps): void {
  area.get<{ Querystring: { next?: unknown } }>(path, async (request, reply) => {
    const next = ownPath(request.query.next)
    const wrong = await readWrongCodes(db, sessionOf(request).administratorId)
    if (wrong === undefined) return reply.redirect(next, 303)
    const count = counted(wrong.count, 'wrong code', formatOf(request).whole)
    return sendPage(request, reply, {
      title: 'Wrong codes',
      body: html`<section class="card narrow">
<h1>Does someone else know your password?</h1>
<p class="warning">${count} of your second factor, entered in new browsers since ${moment(wrong.since)}.</p>
<p>Tally asks for a code only after the correct password. If this was not you, change your password.</p>
<div class="actions"><a class="button primary" href="/account">Change password</a> <a class="button" href="${next}">Continue</a></div>
</section>`,
    })
  })
}
