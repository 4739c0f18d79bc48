import type { OrganizationId } from '@tally/contract'
import type { Log } from '../authentication/keySource.ts'
import type { ApiKey } from '../keys/apiKey.ts'
import type { AccessKeys, AccessRedis } from '../redis.ts'

/** Requests are kept by five minutes: an hour is told in twelve pieces, a day in 288. */
const pieceMs = 5 * 60_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const keptSeconds = (dayMs + 2 * hourMs) / 1000
const flushEveryMs = 5_000
/** Commands that go out together: few enough to be answered within a command's time-out. */
const together = 500

export type RequestCounts = {
  /** Counts a request of a key by its answer's status: an addition in memory, nothing else. */
  note(key: ApiKey, status: number): void
  /** Writes what was noted and stops; Redis stays open. */
  close(): Promise<void>
}

type Parts = { redis: AccessRedis; keys: AccessKeys; logger: Log; now?: () => number }
type Noted = { organizationId: OrganizationId; byStatus: Map<number, number> }

/**
 * Counts requests by key and status in memory and adds them every 5 s to hashes in Redis, one for each organization
 * and five minutes, which are forgotten after 26 hours. Never a call to Redis for a request. What could not be
 * written is tried again with what came since; it is then told of the later five minutes. Redis that is lost takes
 * its figures with it: they are for people to look at.
 */
export function openRequestCounts({ redis, keys, logger, now = Date.now }: Parts): RequestCounts {
  let noted = new Map<string, Noted>()
  let flushing: Promise<void> | undefined

  const add = (keyId: string, organizationId: OrganizationId, status: number, count: number) => {
    let entry = noted.get(keyId)
    if (entry === undefined) {
      entry = { organizationId, byStatus: new Map() }
      noted.set(keyId, entry)
    }
    entry.byStatus.set(status, (entry.byStatus.get(status) ?? 0) + count)
  }

  const flushNoted = async () => {
    if (noted.size === 0 || redis.status !== 'ready') return
    const piece = Math.floor(now() / pieceMs)
    const rows = [...noted].flatMap(([keyId, { organizationId, byStatus }]) =>
      [...byStatus].map(([status, count]) => ({ keyId, organizationId, status, count })),
    )
    noted = new Map()
    for (let from = 0; from < rows.length; from += together) {
      const part = rows.slice(from, from + together)
      const written = await Promise.allSettled(
        part.map(({ keyId, organizationId, status, count }) =>
          redis.hincrby(keys.requests(organizationId, piece), `${keyId}:${status}`, count),
        ),
      )
      for (const [index, { keyId, organizationId, status, count }] of part.entries())
        if (written[index]?.status === 'rejected') add(keyId, organizationId, status, count)
      const hashes = new Set(part.map(({ organizationId }) => keys.requests(organizationId, piece)))
      await Promise.all([...hashes].map(hash => redis.expire(hash, keptSeconds)))
    }
  }
  const flush = () => {
    flushing ??= flushNoted()
      .catch(error => logger.debug({ err: error }, 'counts of requests not written; trying again'))
      .finally(() => {
        flushing = undefined
      })
    return flushing
  }
  const timer = setInterval(flush, flushEveryMs)

  return {
    note: (key, status) => add(key.keyId, key.organizationId, status, 1),
    async close() {
      clearInterval(timer)
      await flushing
      await flush()
    },
  }
}

/** Requests by status, by key id: of about the last hour, and of about the last day; and all of each hour. */
export type KeyRequests = {
  hour: Map<string, Map<number, number>>
  day: Map<string, Map<number, number>>
  byHour: { startsAt: number; requests: number }[]
}

/** What an organization's keys asked in the day before `nowMs`. Rejects where Redis does not answer. */
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
    found.byHour[hoursAgo] ??= { startsAt: nowMs - (hoursAgo + 1) * hourMs, requests: 0 }
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
    }
  }
  found.byHour.reverse()
  return found
}
