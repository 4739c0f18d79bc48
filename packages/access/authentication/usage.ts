import type { Postgres } from '@tally/storage'
import { touchKeys } from '../keys/store.ts'
import type { Log } from './keySource.ts'

const minuteMs = 60_000
const flushEveryMs = 10_000

type Parts = { db: Postgres; logger: Log; now: () => number }

/**
 * Collects when keys were used and writes it every 10 s, in one statement, once for each key and minute; so a
 * use is in Postgres within 70 s (decisions.md, Tokens). What cannot be written is kept for the next time.
 */
export function openUsage({ db, logger, now }: Parts) {
  const written = new Map<string, number>()
  let noted = new Map<string, number>()
  let flushing: Promise<void> | undefined

  const flushNoted = async () => {
    const batch = noted
    if (batch.size === 0) return
    noted = new Map()
    try {
      await touchKeys(db, batch)
      for (const [keyId, minute] of batch) written.set(keyId, minute)
    } catch (error) {
      for (const [keyId, minute] of batch) if (!noted.has(keyId)) noted.set(keyId, minute)
      logger.debug({ err: error, keys: batch.size }, 'last use of API keys not written; trying again')
    }
  }
  const flush = () => {
    flushing ??= flushNoted().finally(() => {
      flushing = undefined
    })
    return flushing
  }
  const timer = setInterval(flush, flushEveryMs)

  return {
    note(keyId: string): void {
      const nowMs = now()
      const minute = nowMs - (nowMs % minuteMs)
      if (written.get(keyId) !== minute) noted.set(keyId, minute)
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await flushing
      await flush()
    },
  }
}
