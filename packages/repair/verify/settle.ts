import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadModelRedis } from '@tally/publication'
import { type Published, readHash, readRevision } from './hash.ts'

/** How long Redis has to reach a revision that Postgres has, and how long it may be missed while it keeps advancing. */
export type Patience = { reachMs: number; meetMs: number }
export const usualPatience: Patience = { reachMs: 5_000, meetMs: 30_000 }
/** Used once Redis stayed behind several times: no projector publishes, and waiting for each event would take hours. */
export const hurriedPatience: Patience = { reachMs: 250, meetMs: 30_000 }

/**
 * How long a snapshot waits for Redis to reach its revision. At first Redis is read without a pause: under load
 * each revision lasts only a few milliseconds.
 */
const closelyMs = 50
const waitMs = 250
const lookEveryMs = 5

/** `met`: both have one revision. `apart`: Redis stays at another one. `missed`: Redis advances, but was never met. */
export type Meeting = 'met' | 'apart' | 'missed'

/**
 * Tracks the attempts to read Redis at the revision of a snapshot. A record that is just arriving is not a
 * difference: Redis may be behind a snapshot, but must reach it in time; it must never be ahead of a snapshot before
 * the snapshot began.
 */
export function meetRedis(redis: ReadModelRedis, key: string, { reachMs, meetMs }: Patience = usualPatience) {
  const began = performance.now()
  let mustReach: { revision: number; by: number } | undefined
  let seen = -1

  return async (revision: number): Promise<{ meeting: Meeting | 'again'; published: Published }> => {
    const wasAhead = seen > revision
    const asked = performance.now()
    for (let waited = 0; waited < waitMs && (await readRevision(redis, key)) < revision; ) {
      waited = performance.now() - asked
      if (waited > closelyMs) await sleep(lookEveryMs)
    }
    const published = await readHash(redis, key)
    const now = performance.now()
    const judge = (): Meeting | 'again' => {
      if (published === 'not-a-hash' || Number.isNaN(published.revision) || wasAhead) return 'apart'
      if (published.revision === revision) return 'met'
      seen = published.revision
      if (mustReach !== undefined && published.revision >= mustReach.revision) mustReach = undefined
      mustReach ??= { revision, by: now + reachMs }
      if (published.revision < mustReach.revision && now > mustReach.by) return 'apart'
      return now - began > meetMs ? 'missed' : 'again'
    }
    return { meeting: judge(), published }
  }
}
