import { findByOidc, issueToken, redeemToken } from '@tally/access'
import { causesOf } from '@tally/platform'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { PageProblem } from '../http/problem.ts'
import { afterSignIn } from '../secondFactor/checkCode.ts'
import { takeAttempt } from './attempts.ts'
import { startSession } from './begin.ts'
import { clearCookie, readCookie, sessionToken, setCookie } from './cookies.ts'
import { ownPath } from './formAgain.ts'
import { callbackPath, type Oidc, type OidcLack, type OidcPending } from './oidc.ts'
import { expired } from './proveFactor.ts'
import { noteRefused, throwIfExceeded } from './refusals.ts'
import { findSession } from './sessions.ts'

/** What a person reads: no more than what their own account at the provider lacks. */
const sentences: Record<OidcLack | 'account' | 'answer', string> = {
  account: 'No administrator has the e-mail address of your account, or another account is bound to it.',
  answer: 'The answer of your organization’s provider is not valid; the log of Tally says why.',
  email: 'Your organization’s provider sent no e-mail address (claim email).',
  email_verified:
    'Your organization’s provider does not say whether your e-mail address is verified (claim email_verified). ADMIN_OIDC_EMAILS decides whether its addresses are trusted.',
  'verified-email':
    'Your e-mail address is not verified at your organization’s provider (claim email_verified). Verify it there.',
  auth_time:
    'Your organization’s provider does not say when you signed in there (claim auth_time), so that nothing can be confirmed through it. Until it does, the team that runs Tally can make the change with tally keys.',
  'recent-auth_time':
    'Your organization’s provider did not ask you to sign in again: by its claim auth_time, you did so more than ten minutes ago. Sign out at the provider, then go back and try again.',
}

/** Why a sign-in was refused, and whom to ask: most of it is a matter of settings. */
function refused(why: keyof typeof sentences, isFresh: boolean): PageProblem {
  const isTime = why === 'auth_time' || why === 'recent-auth_time'
  const title = isFresh && (isTime || why === 'answer') ? 'Sign-in not confirmed' : 'Access denied'
  return new PageProblem(
    403,
    title,
    `${sentences[why]} The team that runs Tally finds what to set in docs/install.md, OpenID providers.`,
  )
}

const someoneElse = 'You signed in as someone else. To switch accounts, sign out first.'

/** Sign-in through an OpenID provider: the redirect to it, and the callback with a code. */
export function oidcPages(app: FastifyInstance, deps: AdminDeps, oidc: Oidc): void {
  const { db, logger } = deps
  const { provider } = oidc

  /** No refusal: nothing is counted or audited. */
  function unanswered(error: Fault): PageProblem {
    logger.warn({ provider, reason: faultOf(error) }, 'the OpenID provider does not answer')
    const next = deps.allowsPasswords ? 'Try again, or sign in with your password.' : 'Try again.'
    return new PageProblem(503, 'Sign-in provider unavailable', `The provider does not answer. ${next}`, 5)
  }

  app.get<{ Querystring: { next?: unknown; fresh?: unknown } }>('/sign-in/oidc', async (request, reply) => {
    const address = request.ip
    await throwIfExceeded(deps, { account: undefined, address }, await takeAttempt(db, { address }))
    const { url, pending } = await oidc
      .begin(ownPath(request.query.next), { isFresh: request.query.fresh === 'yes' })
      .catch(error => {
        throw unanswered(error)
      })
    const text = `${pending.state}.${Buffer.from(JSON.stringify(pending)).toString('base64url')}`
    await issueToken(db, { purpose: 'oidc', token: text })
    setCookie(request, reply, 'oidc', text, 600)
    return reply.redirect(url, 303)
  })

  app.get(callbackPath, async (request, reply) => {
    const pending = await takePending(db, request, reply)
    const refuse = (reason: string, account?: string) =>
      noteRefused(deps, { account, address: request.ip, openId: { provider, reason } })
    const log = (reason: string) =>
      logger.info({ address: request.ip, provider, reason }, 'a sign-in was refused')
    if (pending === undefined) {
      log('the sign-in has expired, or was not begun in this browser')
      throw expired()
    }
    const { isFresh } = pending
    const identity = await oidc.finish(new URL(request.url, 'http://here'), pending).catch(error => {
      if (isOutage(error)) throw unanswered(error)
      return { lacks: 'answer', why: `the provider’s answer is not valid: ${faultOf(error)}` } as const
    })
    if ('lacks' in identity) {
      await refuse('why' in identity ? identity.why : `the provider’s answer lacks: ${identity.lacks}`)
      throw refused(identity.lacks, isFresh)
    }
    const administratorId = await findByOidc(db, identity)
    if (administratorId === undefined) {
      await refuse('no administrator has this account', identity.address)
      throw refused('account', isFresh)
    }
    if (isFresh && (await isSomeoneElse(request, administratorId))) {
      log('another account is signed in here')
      throw new PageProblem(403, 'Another account', someoneElse)
    }
    const { address: email, provenAt } = identity
    const who = { administratorId, email }
    await startSession(deps, request, reply, who, { action: 'sign-in-oidc', oidc: { provenAt } })
    const own = ownPath(pending.next)
    const next = deps.allowsPasswords && !isFresh ? await afterSignIn(db, administratorId, own) : own
    return reply.redirect(next, 303)
  })

  /** Whether a step-up would replace the session of another administrator, whose page is to be opened next. */
  async function isSomeoneElse(request: FastifyRequest, administratorId: string): Promise<boolean> {
    const token = sessionToken(request)
    const session = token === undefined ? undefined : await findSession(db, token)
    return session !== undefined && session.administratorId !== administratorId
  }
}

/** What the errors of openid-client have: the code of OAuth, or the status of an answer that is not one of OAuth. */
type Fault = { code?: unknown; error?: unknown; status?: number; cause?: { status?: number } }
const statusOf = ({ status, cause }: Fault) => status ?? cause?.status

/** Whether the provider did not answer: no connection (what `fetch` throws), not in time, or its server failed. */
const isOutage = (error: Fault): boolean =>
  error instanceof TypeError || error.code === 'OAUTH_TIMEOUT' || Number(statusOf(error)) >= 500

/**
 * What is wrong, with the code of OAuth, such as `access_denied`, or the status; nothing that the answer contains: a
 * SyntaxError quotes the text, which may be a token.
 */
function faultOf(error: Fault): string {
  const messages = causesOf(error).flatMap(({ name, message }) => (name === 'SyntaxError' ? [] : [message]))
  const code = typeof error.error === 'string' ? error.error.slice(0, 64) : statusOf(error)
  return `${messages.join(': ')}${code === undefined ? '' : ` (${code})`}`
}

/**
 * What the redirect gave the browser. The SHA-256 of the cookie is stored, so that a changed one, one that Tally did
 * not make and one that was used before are refused.
 */
async function takePending(
  db: AdminDeps['db'],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<OidcPending | undefined> {
  const [state = '', pending = ''] = readCookie(request, 'oidc')?.split('.') ?? []
  // The answer to a sign-in that another tab began later stays possible.
  if (state !== (request.query as { state?: unknown }).state) return undefined
  clearCookie(request, reply, 'oidc')
  if (!(await redeemToken(db, 'oidc', `${state}.${pending}`))) return undefined
  return JSON.parse(Buffer.from(pending, 'base64url').toString()) as OidcPending
}
