import type { AdminDeps } from '../deps.ts'
import { PageProblem } from '../http/problem.ts'
import type { Session } from '../signIn/sessions.ts'

const needsLink = () =>
  new PageProblem(
    403,
    'A second factor is required',
    'To set it up, you need a link. Ask the team that runs Tally for one (tally administrators reset).',
  )

/**
 * Throws a page that says why someone may not set up a second factor now. If one is required, a password alone must not
 * be enough to make the first one; who has one has just proved it.
 */
export function mayEnrolOrThrow(
  { requiresSecondFactor }: Pick<AdminDeps, 'requiresSecondFactor'>,
  { mayEnrol, isOidc, hasSecondFactor }: Session,
): void {
  if (requiresSecondFactor && !mayEnrol && !isOidc && !hasSecondFactor) throw needsLink()
}
