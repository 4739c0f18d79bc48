import {
  type Postgres,
  publishEvents,
  type RedisClient,
  type RedisKeys,
  readStatuses,
} from '@tally/read-models'
import type { Logger } from '@tally/runtime'
import { within } from '../within.ts'
import { type Beat, type DayRead, type DayRef, type DayShown, showDay } from './day.ts'
import { readDayFromPostgres } from './fromPostgres.ts'
import { openRedisDays } from './fromRedis.ts'

export type LiveParts = {
  db: Postgres
  redis: RedisClient
  keys: RedisKeys
  topics: string[]
  logger: Logger
}

/** What a look at a day found: its moment, and the figures where they are news. */
export type Look = { beat: Beat; shown?: DayShown }
export type DayReader = () => Promise<Look>

/** While Redis does not answer Postgres is asked, but not as often. */
const postgresEveryMs = 1_000
/** Orders by status come from Postgres only; the rest of a screen does not wait for them. */
const statusPatienceMs = 500

/**
 * Looks at one day again and again: two small replies of Redis while nothing changes, the documents when something
 * does. What Redis lacks is composed from Postgres and put there. Rejects where neither answers.
 */
export function openDayReader({ db, redis, keys, topics, logger }: LiveParts, ref: DayRef): DayReader {
  const days = openRedisDays({ redis, keys }, topics)
  let last: DayRead | undefined
  let askPostgresAtMs = 0
  let askStatusesAtMs = Number.POSITIVE_INFINITY

  const fromRedis = async (): Promise<DayRead | undefined> => {
    if (last === undefined) return days.day(ref)
    const head = await days.head(ref.eventId, last.event.shard)
    if (head === undefined) return undefined
    return head.revision === last.revision ? { ...last, asOfMs: head.asOfMs ?? last.asOfMs } : days.day(ref)
  }

  const fromPostgres = async (isMissing: boolean): Promise<DayRead | undefined> => {
    if (last !== undefined && performance.now() < askPostgresAtMs) return last
    askPostgresAtMs = performance.now() + postgresEveryMs
    const found = await readDayFromPostgres(db, topics, ref)
    if (isMissing && found !== undefined)
      publishEvents({ db, redis, keys }, new Map([[ref.eventId, { whole: true }]])).catch(error =>
        logger.debug({ err: error }, 'what Redis lacks was not put there'),
      )
    return found
  }

  return async () => {
    let failed = false
    const hot = await fromRedis().catch(error => {
      failed = true
      logger.debug({ err: error }, 'Redis does not answer; the live screen asks Postgres')
      return undefined
    })
    const read = hot ?? (await fromPostgres(!failed))
    if (read === undefined) throw new Error('the event of a live screen is not there any more')
    const before = last
    // A Redis that came back with less than it had, or was asked before Postgres: nothing goes backwards on a screen.
    const isOlder = before !== undefined && read.revision < before.revision
    const now = isOlder ? before : read
    last = { ...now, asOfMs: later(before?.asOfMs ?? null, read.asOfMs) }
    const beat = { asOfMs: last.asOfMs, nowMs: Date.now() }
    const isNews = before === undefined || before.revision !== now.revision
    if (!isNews && performance.now() < askStatusesAtMs) return { beat }
    const statuses = await within(statusPatienceMs, readStatuses(db, ref)).catch(() => null)
    askStatusesAtMs = statuses === null ? performance.now() + postgresEveryMs : Number.POSITIVE_INFINITY
    return isNews || statuses !== null ? { beat, shown: showDay(last, ref.dayId, statuses) } : { beat }
  }
}

const later = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)
