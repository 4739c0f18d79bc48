import type { ReadModelRedis } from '@tally/read-models'
import {
  isBehind,
  type LastAnswer,
  nextAnswer,
  publishEvents,
  type RedisKeys,
  readStatuses,
} from '@tally/read-models'
import type { Logger } from '@tally/runtime'
import type { Postgres } from '@tally/storage'
import { within } from '../within.ts'
import { type Beat, type DayRead, type DayRef, type DayShown, showDay } from './day.ts'
import { readDayFromPostgres } from './fromPostgres.ts'
import { openRedisDays, type RedisDay } from './fromRedis.ts'

export type LiveParts = {
  db: Postgres
  redis: ReadModelRedis
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
 * does. By the rules of the API's answers (lastAnswer.ts of packages/read-models) Postgres is asked if Redis does not have the
 * event, holds what does not fit together or cannot be checked, or is behind what was shown; what Redis lacked is put
 * there. Rejects if neither answers.
 */
export function openDayReader({ db, redis, keys, topics, logger }: LiveParts, ref: DayRef): DayReader {
  const fromRedis = openRedisDays({ redis, keys }, topics)
  let last: DayRead | undefined
  let said: LastAnswer | undefined
  let askPostgresAtMs = 0
  let askStatusesAtMs = Number.POSITIVE_INFINITY

  const askRedis = (): Promise<RedisDay | undefined> =>
    fromRedis(ref, last).catch(error => {
      logger.debug({ err: error }, 'Redis does not answer; the live screen asks Postgres')
      return undefined
    })

  const askPostgres = async (isMissing: boolean): Promise<DayRead> => {
    askPostgresAtMs = performance.now() + postgresEveryMs
    const found = await readDayFromPostgres(db, topics, ref)
    if (found === undefined) throw new Error('the event of a live screen is not there any more')
    if (isMissing)
      publishEvents({ db, redis, keys }, new Map([[ref.eventId, { whole: true }]])).catch(error =>
        logger.debug({ err: error }, 'what Redis lacks was not put there'),
      )
    return found
  }

  /** Reads what is to be shown; leaves it as it is if Redis cannot tell and Postgres was asked a moment ago. */
  const read = async (): Promise<void> => {
    const hot = await askRedis()
    const isUsable = isDay(hot) && !isBehind(said, hot)
    if (isUsable && !hot.event.isScattered) return show(hot, nextAnswer(said, hot))
    if (last !== undefined && performance.now() < askPostgresAtMs) return
    try {
      // It is the truth, even if it says less than before.
      const cold = await askPostgres(hot === 'missing')
      show(cold, nextAnswer(undefined, cold))
    } catch (error) {
      if (isUsable) return show(hot, nextAnswer(said, hot))
      // What was shown stays true; a screen that hears nothing says that it is cut off.
      if (!isDay(hot)) throw error
    }
  }
  const show = (day: DayRead, saying: LastAnswer) => {
    said = saying
    last = { ...day, asOfMs: saying.asOfMs }
  }

  return async () => {
    const before = last
    await read()
    if (last === undefined) throw new Error('nothing to show yet')
    const beat = { asOfMs: last.asOfMs, nowMs: Date.now() }
    const isNews = before?.revision !== last.revision
    if (!isNews && performance.now() < askStatusesAtMs) return { beat }
    const statuses = await within(statusPatienceMs, readStatuses(db, ref)).catch(() => null)
    askStatusesAtMs = statuses === null ? performance.now() + postgresEveryMs : Number.POSITIVE_INFINITY
    return isNews || statuses !== null ? { beat, shown: showDay(last, ref.dayId, statuses) } : { beat }
  }
}

const isDay = (read: RedisDay | undefined): read is DayRead => typeof read === 'object'
