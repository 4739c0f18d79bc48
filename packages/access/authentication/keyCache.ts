import { type Logger, openInterval, type Postgres } from '@tally/platform'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { StoredKey } from '../keys/apiKey.ts'
import { fromRow, type KeyRow } from '../keys/store.ts'
import { createLookUps, type Found, type KeySource } from './keySource.ts'

/** A record older than this is looked up again when it is used; until then it is still served. */
const freshMs = 400
/** The same for a record whose changes are followed; reached only if the polls fail or are slow. */
const followedFreshMs = 600
/** No record is used beyond this age: a revoked key is refused in 1 s (docs/api.md, Tokens), even by slow answers. */
const usableMs = 900
const maxKnown = 50_000
/** Ids that no key has, apart from the others: a flood of wrong tokens must not evict good keys. */
const maxUnknown = 10_000

type Entry = {
  stored: StoredKey | undefined
  askedMs: number
  /** Whether polls report every change since the record was read. */
  isFollowed: boolean
  /** Whether the cache still has it: any change of the key is another entry. */
  isHeld: boolean
  /** Until when its use is recorded, not beyond its expiry; see `openUsage`. */
  recordedUntilMs: number
}
/** A key that exists, as the cache has it. */
export type KnownKey = Entry & { stored: StoredKey }

/**
 * The API keys as this process knows them.
 *
 * A record stays valid as long as polls (`follow`) report no change of it: its age counts from the last poll. A record
 * that polls do not follow (read from Redis, or before the first poll) ages from its own look-up. Up to `freshMs` a
 * record is served as it is; up to `usableMs` it is served and looked up again; an older one is looked up first.
 *
 * A look-up may return less than this process already knows: a poll may have reported a change after the look-up read
 * the row, and a copy in Redis may be from before a revocation. Then what is known stays.
 */
export function createKeyCache(source: KeySource, now: () => number = Date.now) {
  const known = new LRUCache<string, Entry>({
    max: maxKnown,
    dispose(entry) {
      entry.isHeld = false
    },
  })
  const unknown = new LRUCache<string, Entry>({ max: maxUnknown })
  const lookUps = createLookUps(source, keep)
  /** When the last poll began: changes committed before that are in the cache. */
  let followedMs = Number.NEGATIVE_INFINITY
  /** Records read from Postgres since then are followed by later polls. */
  let followedSinceMs = Number.POSITIVE_INFINITY

  function keep(keyId: string, { keys, from, askedMs }: Found, isOvertaken: boolean): StoredKey | undefined {
    const isFollowed = from === 'postgres' && askedMs >= followedSinceMs
    const before = known.get(keyId)
    // A copy in Redis may be from before the key was revoked.
    const isOlder = from === 'redis' && before?.stored !== undefined && before.stored.key.revokedAt !== null
    const stored = isOlder ? before.stored : keys.get(keyId)
    const found = { stored, askedMs, isFollowed, isHeld: true, recordedUntilMs: 0 }
    const entry = (isOvertaken ? before : undefined) ?? found
    const [holds, other] = entry.stored === undefined ? [unknown, known] : [known, unknown]
    holds.set(keyId, entry)
    other.delete(keyId)
    return entry.stored
  }

  const lookUp = (keyId: string) => lookUps.request(keyId, known.has(keyId))
  const ageOf = ({ askedMs, isFollowed }: Entry) =>
    performance.now() - (isFollowed ? Math.max(askedMs, followedMs) : askedMs)
  const isFresh = (entry: Entry, ageMs: number) => ageMs <= (entry.isFollowed ? followedFreshMs : freshMs)
  const isUsable = (entry: KnownKey): boolean => entry.isHeld && isFresh(entry, ageOf(entry))

  return {
    /** The record of a key, undefined for an id that no key has; a promise if the id has to be looked up. */
    get(keyId: string): StoredKey | undefined | Promise<StoredKey | undefined> {
      const entry = known.get(keyId) ?? unknown.get(keyId)
      if (entry === undefined) return lookUp(keyId)
      const ageMs = ageOf(entry)
      if (ageMs > usableMs) return lookUp(keyId)
      // The next caller gets the failure; this one already has its answer.
      if (!isFresh(entry, ageMs)) lookUp(keyId).catch(() => {})
      return entry.stored
    },

    /** What the cache has of a key now, to be checked with `isUsable` before each use. */
    held(keyId: string): KnownKey | undefined {
      const entry = known.get(keyId)
      return entry?.stored === undefined ? undefined : (entry as KnownKey)
    },

    /** Whether the cache still has it, fresh enough to be used without asking Postgres. It does not search by id. */
    isUsable,

    /** Whether, besides, it has not expired and its use is recorded already. */
    isInUse: (entry: KnownKey): boolean => isUsable(entry) && now() < entry.recordedUntilMs,

    /** Applies the result of a poll; see `followKeys`. */
    follow({ beganMs, isContinued, changed }: KeyChanges): void {
      if (!isContinued) {
        known.clear()
        unknown.clear()
        followedSinceMs = performance.now()
      }
      followedMs = beganMs
      const used = changed.filter(
        ({ key: { keyId } }) => known.has(keyId) || unknown.has(keyId) || lookUps.isPending(keyId),
      )
      for (const stored of used) {
        const { keyId } = stored.key
        known.set(keyId, { stored, askedMs: beganMs, isFollowed: true, isHeld: true, recordedUntilMs: 0 })
        unknown.delete(keyId)
        lookUps.overtake(keyId)
      }
      source.copy(used)
    },
  }
}

const pollMs = 300
/** If more keys change at once, starting with an empty cache is cheaper. */
const maxChanges = 1_000

/**
 * The result of a poll: the keys that changed since the poll before. If not `isContinued`, the cache must be emptied,
 * because this is the first poll, keys were deleted, or Postgres restarted (it may have lost commits).
 */
type KeyChanges = { beganMs: number; isContinued: boolean; changed: StoredKey[] }

/**
 * The position of a poll: every transaction with an id below `xmin` has ended; `server` changes with each start and
 * each promotion of Postgres.
 */
export type Position = { xmin: number; deletions: number; server: string }

/**
 * Asks Postgres every 0.3 s which keys changed: one small query per process instead of one per key in use. It misses no
 * change, in whatever order transactions commit; while a long transaction is open, it reports some changes repeatedly.
 * Returns a function that stops it.
 */
export function followKeys({
  db,
  logger,
  onChanges,
}: {
  db: Postgres
  logger: Pick<Logger, 'debug'>
  onChanges: (changes: KeyChanges) => void
}): () => Promise<void> {
  let position: Position | undefined

  const poll = async () => {
    const beganMs = performance.now()
    const { changed, ...next } = await readChanges(db, position?.xmin)
    const isContinued = continues(position, next) && changed.length <= maxChanges
    position = next
    onChanges({ beganMs, isContinued, changed })
  }
  const polls = openInterval(pollMs, poll, error =>
    logger.debug({ err: error }, 'changes of API keys not read; trying again'),
  )
  void polls.run()
  return polls.stop
}

/** Whether the later of two polls reports everything that changed between them. */
export function continues(before: Position | undefined, { xmin, deletions, server }: Position): boolean {
  return before?.server === server && before.deletions === deletions && before.xmin <= xmin
}

/**
 * The current position, and the keys that changed since `since` (if given): one statement, so of one snapshot. After a
 * logical restore, keys have ids of transactions that this server has yet to reach.
 */
async function readChanges(
  db: Postgres,
  since: number | undefined,
): Promise<Position & { changed: StoredKey[] }> {
  const { rows } = await sql<Omit<KeyRow, 'key_id'> & { key_id: string | null } & Position>`
select
  pg_snapshot_xmin(pg_current_snapshot())::text::bigint as xmin,
  deletions,
  running_server() as server,
  changed.*
from api_key_deletions
left join (
  select * from api_keys
  where changed_by >= ${since ?? Number.MAX_SAFE_INTEGER}
    and changed_by < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
  order by changed_by
  limit ${maxChanges + 1}
) as changed on true`.execute(db)
  const [first] = rows
  if (first === undefined) throw new Error('the table api_key_deletions is empty')
  const { xmin, deletions, server } = first
  const changed = rows.flatMap(row => (row.key_id === null ? [] : [fromRow({ ...row, key_id: row.key_id })]))
  return { xmin, deletions, server, changed }
}
