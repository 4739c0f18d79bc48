import type { StoredKey } from '../keys/apiKey.ts'
import type { Found, KeySource } from './keySource.ts'

const maxBatch = 1_000
const maxBatchesAtOnce = 2

type Waiting = {
  /** A poll has reported a change of the key since the look-up was requested. */
  isOvertaken: boolean
  promise: Promise<StoredKey | undefined>
  resolve: (stored: StoredKey | undefined) => void
  reject: (error: unknown) => void
}

export type LookUps = {
  /** Looks a key up; requests for an id that is already being looked up share the answer. */
  request(keyId: string, isUrgent: boolean): Promise<StoredKey | undefined>
  isPending(keyId: string): boolean
  /** Marks what a pending look-up will find as possibly older than what a poll has just reported. */
  overtake(keyId: string): void
}

/**
 * Coalesces look-ups: an id is read once however many requests wait for it, and all ids requested in one iteration of
 * the event loop form one batch, urgent ids first. At most two batches are in progress; further ids wait for the next
 * one. `keep` stores what was found of an id and returns the record that the waiting requests get.
 */
export function createLookUps(
  source: Pick<KeySource, 'read'>,
  keep: (keyId: string, found: Found, isOvertaken: boolean) => StoredKey | undefined,
): LookUps {
  const pending = new Map<string, Waiting>()
  const urgent = new Set<string>()
  const ordinary = new Set<string>()
  let batches = 0
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || batches >= maxBatchesAtOnce || urgent.size + ordinary.size === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      void readBatch(takeBatch()).finally(schedule)
      schedule()
    })
  }

  function takeBatch(): string[] {
    const batch: string[] = []
    for (const queue of [urgent, ordinary]) {
      for (const keyId of queue) {
        if (batch.length === maxBatch) return batch
        queue.delete(keyId)
        batch.push(keyId)
      }
    }
    return batch
  }

  async function readBatch(keyIds: string[]): Promise<void> {
    batches++
    try {
      const found = await source.read(keyIds)
      for (const keyId of keyIds) {
        const stored = keep(keyId, found, pending.get(keyId)?.isOvertaken === true)
        take(keyId)?.resolve(stored)
      }
    } catch (error) {
      for (const keyId of keyIds) take(keyId)?.reject(error)
    } finally {
      batches--
    }
  }

  function take(keyId: string): Waiting | undefined {
    const waiting = pending.get(keyId)
    pending.delete(keyId)
    return waiting
  }

  return {
    request(keyId, isUrgent) {
      const waiting = pending.get(keyId)
      if (waiting !== undefined) return waiting.promise
      const deferred = Promise.withResolvers<StoredKey | undefined>()
      pending.set(keyId, { ...deferred, isOvertaken: false })
      const queue = isUrgent ? urgent : ordinary
      queue.add(keyId)
      schedule()
      return deferred.promise
    },
    isPending: keyId => pending.has(keyId),
    overtake(keyId) {
      const waiting = pending.get(keyId)
      if (waiting !== undefined) waiting.isOvertaken = true
    },
  }
}
