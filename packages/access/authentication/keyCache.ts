import { LRUCache } from 'lru-cache'
import type { StoredKey } from '../keys/apiKey.ts'
import type { KeyChanges } from './keyChanges.ts'
import type { Found, KeySource } from './keySource.ts'

/** A record older than this is looked up again when it is used; until then it is still served. */
const freshMs = 400
/** The same for a record whose changes are followed; reached only if the polls fail or are slow. */
const followedFreshMs = 600
/** Never used beyond it: a revoked key is refused within 1 s (decisions.md, Tokens), with room for a slow answer. */
const usableMs = 900
const maxKnown = 50_000
/** Ids that no key has; apart from the others, so that a flood of wrong tokens pushes no good key out. */
const maxUnknown = 10_000
const maxBatch = 1_000
const maxBatchesAtOnce = 2

/** `isFollowed`: polls report every change since the record was read. */
type Entry = {
  stored: StoredKey | undefined
  from: Found['from']
  askedMs: number
  isFollowed: boolean
}
type Waiting = {
  /** A poll has reported a change of the key meanwhile. */
  isOvertaken: boolean
  promise: Promise<StoredKey | undefined>
  resolve: (entry: Entry) => void
  reject: (e: unknown) => void
}

/**
 * The keys' records as this process knows them. An id is looked up once however many wait for it, and all ids of one
 * turn of the event loop go out together: ids that are known to be keys first, two batches at once. A record stays
 * valid as long as polls (`follow`) report no change; if polls fail, each record is looked up again as it ages.
 */
export function openKeyCache(source: KeySource) {
  const known = new LRUCache<string, Entry>({ max: maxKnown })
  const unknown = new LRUCache<string, Entry>({ max: maxUnknown })
  const pending = new Map<string, Waiting>()
  const urgent = new Set<string>()
  const ordinary = new Set<string>()
  let batches = 0
  let isScheduled = false
  /** When the last poll began: changes committed before that are in the cache. */
  let followedMs = Number.NEGATIVE_INFINITY
  /** Records read from Postgres since then are followed by later polls. */
  let followedSinceMs = Number.POSITIVE_INFINITY

  source.onRecovery(() => {
    for (const [keyId, entry] of known) if (entry.from === 'redis') known.delete(keyId)
    unknown.clear()
  })

  function lookUp(keyId: string): Promise<StoredKey | undefined> {
    const waiting = pending.get(keyId)
    if (waiting !== undefined) return waiting.promise
    const { promise, resolve, reject } = Promise.withResolvers<StoredKey | undefined>()
    pending.set(keyId, { promise, isOvertaken: false, resolve: entry => resolve(entry.stored), reject })
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
      const isFollowed = from === 'postgres' && askedMs >= followedSinceMs
      for (const keyId of keyIds) settle(keyId, { stored: keys.get(keyId), from, askedMs, isFollowed })
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
    // The look-up may have read the key before a change that a poll has reported meanwhile.
    const overtaking = pending.get(keyId)?.isOvertaken === true ? known.get(keyId) : undefined
    const latest = overtaking ?? (isOlder ? { ...entry, stored: before } : entry)
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
      if (entry === undefined) return lookUp(keyId)
      const { askedMs, isFollowed, stored } = entry
      const ageMs = performance.now() - (isFollowed ? Math.max(askedMs, followedMs) : askedMs)
      if (ageMs > usableMs) return lookUp(keyId)
      // The next caller gets the failure; this one already has its answer.
      if (ageMs > (isFollowed ? followedFreshMs : freshMs)) lookUp(keyId).catch(() => {})
      return stored
    },

    /** Applies the result of a poll; see keyChanges.ts. */
    follow({ beganMs, isContinued, changed }: KeyChanges): void {
      if (!isContinued) {
        known.clear()
        unknown.clear()
        followedSinceMs = performance.now()
      }
      followedMs = beganMs
      const news = changed.filter(
        ({ key: { keyId } }) => known.has(keyId) || unknown.has(keyId) || pending.has(keyId),
      )
      for (const stored of news) {
        const { keyId } = stored.key
        known.set(keyId, { stored, from: 'postgres', askedMs: beganMs, isFollowed: true })
        unknown.delete(keyId)
        const waiting = pending.get(keyId)
        if (waiting !== undefined) waiting.isOvertaken = true
      }
      source.copy(news)
    },
  }
}
