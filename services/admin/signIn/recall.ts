import { sha256 } from '@tally/access'
import { isTransient } from '@tally/runtime'
import type { Postgres } from '@tally/storage'
import { findSession, type Session } from './sessions.ts'

/** As long as a session may be without use: what ends one is read from Postgres, which nobody can write meanwhile. */
const keptMs = 30 * 60_000
/** The platform team is a few people; anything above is left out. */
const mostKept = 100

type Kept = { session: Session; readAtMs: number }

/**
 * Finds sessions, and keeps those of the platform team that this process has read in the last 30 minutes: where
 * `mayRecall`, one of them holds while Postgres does not answer. Every other request fails then.
 */
export function openRecall(nowMs: () => number = Date.now) {
  const kept = new Map<string, Kept>()

  function note(key: string, session: Session | undefined): void {
    kept.delete(key)
    for (const [other, { readAtMs }] of kept) if (nowMs() - readAtMs > keptMs) kept.delete(other)
    if (session?.isPlatform && kept.size < mostKept) kept.set(key, { session, readAtMs: nowMs() })
  }

  return async (db: Postgres, token: string, mayRecall: boolean): Promise<Session | undefined> => {
    const key = sha256(token).toString('hex')
    try {
      const session = await findSession(db, token)
      note(key, session)
      return session
    } catch (error) {
      const found = kept.get(key)
      if (!mayRecall || !isTransient(error) || found === undefined || nowMs() - found.readAtMs > keptMs)
        throw error
      return found.session
    }
  }
}
