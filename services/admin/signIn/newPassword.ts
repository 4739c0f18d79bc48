import { hashPassword, passwordProblem } from '@tally/access'
import type { AdminDeps } from '../deps.ts'

/**
 * The hash of a new password, or why it is refused. Judging a long one takes 0.1 s, in which no other page is answered:
 * only for an attempt that is counted and has its turn in the queue.
 */
export async function hashNewPassword(
  { passwordCost }: AdminDeps,
  password: string,
  email: string,
): Promise<{ passwordHash: string; problem?: undefined } | { problem: string }> {
  const problem = await passwordProblem(password, email)
  return problem === undefined ? { passwordHash: await hashPassword(password, passwordCost) } : { problem }
}
