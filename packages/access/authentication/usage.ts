import { openInterval, type Postgres } from '@tally/platform'
import { touchKeys } from '../keys/store.ts'
import type { Log } from '../log.ts'

const minuteMs = 60_000
const flushEveryMs = 10_000

type Deps = { db: Postgres; logger: Log; now: () => number }

/**
 * Collects when keys were used. Every 10 s one statement writes the new minutes, so a use is in Postgres within 70 s
 * (docs/api.md, Tokens). What cannot be written is kept for the next time.
 */
export function openUsage({ db, logger, now }: Deps) {
  const written = new Map<string, number>()
  let unwritten = new Map<string, number>()

  const write = async () => {
    const batch = unwritten
    if (batch.size === 0) return
    unwritten = new Map()
    try {
      await touchKeys(db, batch)
      for (const [keyId, minute] of batch) written.set(keyId, minute)
    } catch (error) {
      for (const [keyId, minute] of batch) if (!unwritten.has(keyId)) unwritten.set(keyId, minute)
      throw error
    }
  }
  const flushes = openInterval(flushEveryMs, write, error =>
    logger.debug({ err: error, keys: unwritten.size }, 'last use of API keys not written; trying again'),
  )

  return {
    /**
     * Returns whether the key was not used in this minute before. `known` remembers the minute, so that a key that is
     * used again within it is not looked up.
     */
    note(keyId: string, known?: { usedMinute?: number }): boolean {
      const nowMs = now()
      const minute = nowMs - (nowMs % minuteMs)
      if (known?.usedMinute === minute) return false
      if (known !== undefined) known.usedMinute = minute
      if (written.get(keyId) === minute) return false
      unwritten.set(keyId, minute)
      return true
    },
    async close(): Promise<void> {
      await flushes.stop()
      await flushes.run()
    },
  }
}
