import type { OrganizationId } from '@tally/contract'
import { type Logger, openInterval } from '@tally/platform'
import type { ApiKey } from '../keys/apiKey.ts'
import type { AccessKeys, AccessRedis } from '../redis.ts'

/** Requests are kept in pieces of five minutes: 12 for an hour, 288 for a day. */
const pieceMs = 5 * 60_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const keptSeconds = (dayMs + 2 * hourMs) / 1000
const flushEveryMs = 5_000
/** Commands that are sent together: few enough to be answered within one command timeout. */
const commandsAtOnce = 500

export type RequestCounts = {
  /** Counts a request of a key by its answer's status: an addition in memory, no call to Redis. */
  note(key: ApiKey, status: number): void
  /** Writes the remaining counts and stops; the caller closes Redis. */
  close(): Promise<void>
}

type Deps = { redis: AccessRedis; keys: AccessKeys; logger: Pick<Logger, 'debug'>; now?: () => number }
type Counted = { organizationId: OrganizationId; byStatus: Map<number, number> }

/**
 * Counts requests by key and status in memory. Every 5 s the counts are added to hashes in Redis, one per organization
 * and five minutes, which expire after 26 hours. Counts that could not be written are added with later ones, and then
 * belong to the later five minutes. If Redis loses its data, the counts are lost too: they are only shown to people.
 */
export function openRequestCounts({ redis, keys, logger, now = Date.now }: Deps): RequestCounts {
  let unwritten = new Map<string, Counted>()
  /** Hashes that were written and do not expire yet. */
  const lasting = new Set<string>()

  const add = (keyId: string, organizationId: OrganizationId, status: number, count: number) => {
    let entry = unwritten.get(keyId)
    if (entry === undefined) {
      entry = { organizationId, byStatus: new Map() }
      unwritten.set(keyId, entry)
    }
    entry.byStatus.set(status, (entry.byStatus.get(status) ?? 0) + count)
  }

  const expire = async (hashes: string[]) => {
    const expiring = await Promise.allSettled(hashes.map(hash => redis.expire(hash, keptSeconds)))
    for (const [index, hash] of hashes.entries())
      if (expiring[index]?.status === 'fulfilled') lasting.delete(hash)
  }

  const write = async () => {
    if (unwritten.size === 0 || redis.status !== 'ready') return
    const piece = Math.floor(now() / pieceMs)
    const rows = [...unwritten].flatMap(([keyId, { organizationId, byStatus }]) =>
      [...byStatus].map(([status, count]) => ({ keyId, organizationId, status, count })),
    )
    unwritten = new Map()
    for (let from = 0; from < rows.length; from += commandsAtOnce) {
      const part = rows.slice(from, from + commandsAtOnce)
      const written = await Promise.allSettled(
        part.map(({ keyId, organizationId, status, count }) =>
          redis.hincrby(keys.requests(organizationId, piece), `${keyId}:${status}`, count),
        ),
      )
      for (const [index, { keyId, organizationId, status, count }] of part.entries())
        if (written[index]?.status === 'rejected') add(keyId, organizationId, status, count)
      for (const { organizationId } of part) lasting.add(keys.requests(organizationId, piece))
      await expire([...lasting].slice(0, commandsAtOnce))
    }
  }
  const flushes = openInterval(flushEveryMs, write, error =>
    logger.debug({ err: error }, 'counts of requests not written; trying again'),
  )

  return {
    note: (key, status) => add(key.keyId, key.organizationId, status, 1),
    async close() {
      await flushes.stop()
      await flushes.run()
    },
  }
}

/** The statuses of refused requests: the key, its scopes, the rate limit. */
export const refusedStatuses = [401, 403, 429] as const

/** Requests by key id and status in about the last hour and the last day, and of each hour all and those refused. */
export type KeyRequests = {
  hour: Map<string, Map<number, number>>
  day: Map<string, Map<number, number>>
  byHour: { startsAt: number; requests: number; refused: number }[]
}

/** Reads the requests of an organization's keys in the day before `nowMs`. Rejects if Redis does not answer. */
export async function readRequests(
  redis: AccessRedis,
  keys: AccessKeys,
  organizationId: OrganizationId,
  nowMs: number,
): Promise<KeyRequests> {
  const last = Math.floor(nowMs / pieceMs)
  const pieces = Array.from({ length: dayMs / pieceMs }, (_, index) => last - index)
  const hashes = await Promise.all(pieces.map(piece => redis.hgetall(keys.requests(organizationId, piece))))
  const found: KeyRequests = { hour: new Map(), day: new Map(), byHour: [] }
  const piecesAnHour = hourMs / pieceMs
  for (const [index, hash] of hashes.entries()) {
    const hoursAgo = Math.floor(index / piecesAnHour)
    found.byHour[hoursAgo] ??= { startsAt: nowMs - (hoursAgo + 1) * hourMs, requests: 0, refused: 0 }
    for (const [field, text] of Object.entries(hash)) {
      const [keyId = '', status] = field.split(':')
      const count = Number(text)
      const into = (counts: Map<string, Map<number, number>>) => {
        const ofKey = counts.get(keyId) ?? new Map<number, number>()
        counts.set(keyId, ofKey.set(Number(status), (ofKey.get(Number(status)) ?? 0) + count))
      }
      into(found.day)
      if (index < piecesAnHour) into(found.hour)
      found.byHour[hoursAgo].requests += count
      if (refusedStatuses.some(refused => refused === Number(status))) found.byHour[hoursAgo].refused += count
    }
  }
  found.byHour.reverse()
  return found
}
