import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadModelRedis } from '@tally/publication'

/** How long Redis has to reach a revision that Postgres has. */
export const usualReachMs = 5_000
/** Used once Redis stayed behind several times: no projector publishes, and waiting for each event would take hours. */
export const shortReachMs = 250
/** How long a revision may be missed while Redis keeps advancing. */
const convergeMs = 30_000

/**
 * How long a snapshot waits for Redis to reach its revision. At first Redis is read without a pause: under load
 * each revision lasts only a few milliseconds.
 */
const closelyMs = 50
const waitMs = 250
const lookEveryMs = 5

/** `in-sync`: one revision. `diverged`: Redis stays at another. `timed-out`: it advances, but never to a snapshot's. */
export type Convergence = 'in-sync' | 'diverged' | 'timed-out'

/**
 * Tracks the attempts to read Redis at the revision of a snapshot. A record that is just arriving is not a
 * difference: Redis may be behind a snapshot, but must reach it in time; it must never be ahead of a snapshot before
 * the snapshot began.
 */
export function convergeWithRedis(redis: ReadModelRedis, key: string, reachMs = usualReachMs) {
  const began = performance.now()
  let mustReach: { revision: number; by: number } | undefined
  let seen = -1

  return async (
    revision: number,
  ): Promise<{ convergence: Convergence | 'again'; published: PublishedHash }> => {
    const wasAhead = seen > revision
    const asked = performance.now()
    for (let waited = 0; waited < waitMs && (await readRevision(redis, key)) < revision; ) {
      waited = performance.now() - asked
      if (waited > closelyMs) await sleep(lookEveryMs)
    }
    const published = await readHash(redis, key)
    const now = performance.now()
    const judge = (): Convergence | 'again' => {
      if (published === 'not-a-hash' || Number.isNaN(published.revision) || wasAhead) return 'diverged'
      if (published.revision === revision) return 'in-sync'
      seen = published.revision
      if (mustReach !== undefined && published.revision >= mustReach.revision) mustReach = undefined
      mustReach ??= { revision, by: now + reachMs }
      if (published.revision < mustReach.revision && now > mustReach.by) return 'diverged'
      return now - began > convergeMs ? 'timed-out' : 'again'
    }
    return { convergence: judge(), published }
  }
}

/** A hash in Redis and its revision; `{}` if there is none. Any other value under the key is `not-a-hash`. */
export type PublishedHash = { fields: Record<string, string>; revision: number } | 'not-a-hash'

/** Reads a published hash in one command. `revision` is -1 if it is missing, NaN if it is not a number. */
async function readHash(redis: ReadModelRedis, key: string): Promise<PublishedHash> {
  try {
    const fields = await redis.hgetall(key)
    return { fields, revision: revisionOf(fields.revision) }
  } catch (error) {
    if (isWrongType(error)) return 'not-a-hash'
    throw error
  }
}

/** Only the revision of a published hash; NaN if it is not a whole number, or the key holds no hash. */
export async function readRevision(redis: ReadModelRedis, key: string): Promise<number> {
  try {
    return revisionOf((await redis.hget(key, 'revision')) ?? undefined)
  } catch (error) {
    if (isWrongType(error)) return Number.NaN
    throw error
  }
}

function revisionOf(text: string | undefined): number {
  if (text === undefined) return -1
  const revision = Number(text)
  return Number.isSafeInteger(revision) && revision >= 0 ? revision : Number.NaN
}

function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE')
}
