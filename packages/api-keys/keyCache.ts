import { LRUCache } from 'lru-cache'
import type { StoredKey } from './apiKey.ts'
import type { Found, KeySource } from './keySource.ts'

/** From this age on a record that is asked for is fetched anew, while it still serves. */
const freshMs = 400
/** Never used beyond it: a revoked key is refused within 1 s (decisions.md, Tokens), with room for a slow answer. */
const usableMs = 900
const maxKnown = 50_000
/** Ids that no key has; apart from the others, so that a flood of wrong tokens pushes no good key out. */
const maxUnknown = 10_000
const maxBatch = 1_000
const maxBatchesAtOnce = 2

type Entry = { stored: StoredKey | undefined; from: Found['from']; askedMs: number }
type Waiting = {
  promise: Promise<StoredKey | undefined>
  resolve: (entry: Entry) => void
  reject: (e: unknown) => void
}

/**
 * The keys' records as this process knows them. An id is looked up once however many wait for it, and all ids of
 * one turn of the event loop go out together: ids that are known to be keys first, two batches at once.
 */
export function openKeyCache(source: KeySource) {
  const known = new LRUCache<string, Entry>({ max: maxKnown })
  const unknown = new LRUCache<string, Entry>({ max: maxUnknown })
  const pending = new Map<string, Waiting>()
  const urgent = new Set<string>()
  const ordinary = new Set<string>()
  let batches = 0
  let isScheduled = false

  source.onRecovery(() => {
    for (const [keyId, entry] of known) if (entry.from === 'redis') known.delete(keyId)
    unknown.clear()
  })

  function lookUp(keyId: string): Promise<StoredKey | undefined> {
    const waiting = pending.get(keyId)
    if (waiting !== undefined) return waiting.promise
    const { promise, resolve, reject } = Promise.withResolvers<StoredKey | undefined>()
    pending.set(keyId, { promise, resolve: entry => resolve(entry.stored), reject })
    if (known.has(keyId)) urgent.add(keyId)
    else ordinary.add(keyId)
    schedule()
    return promise
  }

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
      const { keys, from, askedMs } = await source.read(keyIds)
      for (const keyId of keyIds) settle(keyId, { stored: keys.get(keyId), from, askedMs })
    } catch (error) {
      for (const keyId of keyIds) take(keyId)?.reject(error)
    } finally {
      batches--
    }
  }

  function settle(keyId: string, entry: Entry): void {
    const before = known.get(keyId)?.stored
    // A copy in Redis may be from before the key was revoked; what is revoked stays so.
    const isOlder = before !== undefined && before.key.revokedAt !== null && entry.from === 'redis'
    const latest = isOlder ? { ...entry, stored: before } : entry
    const [holds, other] = latest.stored === undefined ? [unknown, known] : [known, unknown]
    holds.set(keyId, latest)
    other.delete(keyId)
    take(keyId)?.resolve(latest)
  }

  function take(keyId: string): Waiting | undefined {
    const waiting = pending.get(keyId)
    pending.delete(keyId)
    return waiting
  }

  return {
    /** The record of a key, undefined for an id that no key has; a promise where it has to be looked up. */
    get(keyId: string): StoredKey | undefined | Promise<StoredKey | undefined> {
      const entry = known.get(keyId) ?? unknown.get(keyId)
      const ageMs = entry === undefined ? Number.POSITIVE_INFINITY : performance.now() - entry.askedMs
      if (entry === undefined || ageMs > usableMs) return lookUp(keyId)
      // Whoever needs it after this one gets a failure told; this one has its answer.
      if (ageMs > freshMs) lookUp(keyId).catch(() => {})
      return entry.stored
    },
  }
}
