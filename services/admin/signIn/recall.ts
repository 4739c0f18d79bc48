import { sha256 } from '@tally/access'
import { isTransient, type Postgres } from '@tally/platform'
import { findSession, type Session } from './sessions.ts'

/** As long as a session may be without use: what ends one is read from Postgres, which cannot be written meanwhile. */
const keptMs = 30 * 60_000
/** The platform team is a few people; anything above is left out. */
const mostKept = 100

export type Recall = ReturnType<typeof createRecall>

/**
 * Finds sessions, and keeps those of the platform team that this process has read in the last 30 minutes: if
 * `mayRecall`, one of them holds while Postgres does not answer. Every other request fails then.
 */
export function createRecall(nowMs: () => number = Date.now) {
  const kept = new Map<string, { session: Session; readAtMs: number }>()
  /** How often something was forgotten: what was read before that is not kept after it. */
  let forgotten = 0
  const forgetIf = (isOver: (kept: { session: Session; readAtMs: number }) => boolean) => {
    for (const [key, one] of kept) if (isOver(one)) kept.delete(key)
  }

  return {
    async find(db: Postgres, token: string, mayRecall: boolean): Promise<Session | undefined> {
      const key = sha256(token).toString('hex')
      forgetIf(({ readAtMs }) => nowMs() - readAtMs > keptMs)
      const before = forgotten
      try {
        const session = await findSession(db, token)
        kept.delete(key)
        if (session?.isPlatform && before === forgotten && kept.size < mostKept)
          kept.set(key, { session, readAtMs: nowMs() })
        return session
      } catch (error) {
        const found = kept.get(key)
        if (!mayRecall || !isTransient(error) || found === undefined) throw error
        return found.session
      }
    },
    /** Forgets the sessions of an administrator, of which some have ended, and the session of a token. */
    forget(administratorId: string, token?: string) {
      forgotten += 1
      forgetIf(({ session }) => session.administratorId === administratorId)
      if (token !== undefined) kept.delete(sha256(token).toString('hex'))
    },
  }
}
