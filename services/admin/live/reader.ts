import { type OrderStatus, offsetIn } from '@tally/contract'
import { readStatuses } from '@tally/figures'
import { type Logger, type Postgres, timeout } from '@tally/platform'
import { isBehind, type LastAnswer, nextAnswer, publishEvents, type ReadModel } from '@tally/publication'
import { readFromPostgres } from '@tally/views'
import DataLoader from 'dataloader'
import { type Beat, type Composition, type DayRead, type DayRef, dayOf, livePage } from './day.ts'
import type { RedisDay, RedisDays } from './fromRedis.ts'
import { wantedNames } from './wanted.ts'

export type LiveDeps = ReadModel & {
  topics: string[]
  logger: Logger
}

/** The result of one look at a day: its watermark, and the figures if they changed, as the composition's JSON. */
type Look = { beat: Beat; shown?: string }
export type DayReader = () => Promise<Look>
/** The reads of all days, which share round trips. */
type SharedReads = { fromRedis: RedisDays; statusesOf: StatusReader }

/** Postgres is asked less often than Redis. */
const postgresEveryMs = 1_000
/** Orders by status come from Postgres only; the other figures do not wait longer for them. */
const statusTimeoutMs = 500

/** What a reader remembers from one look to the next. */
type State = {
  /** What is shown, with the watermark of `answer`. */
  shown: DayRead | undefined
  answer: LastAnswer | undefined
  /** When Postgres may be asked for the figures again, and why it did not answer when it was asked last. */
  askPostgresAtMs: number
  postgresError: Error | undefined
  /** When Postgres is asked for the orders by status again: never, while they are shown. */
  askStatusesAtMs: number
}

/**
 * Reads one day repeatedly: a line of Redis's reply while nothing changes, the documents when something does. Like
 * the API (`isBehind` of packages/publication), it asks Postgres if Redis does not have the event, holds documents
 * that do not fit their watermark or cannot be checked, or is behind what was shown. What Redis lacked is published.
 * Rejects if neither answers.
 */
export function createDayReader(
  { db, redis, keys, topics, logger }: LiveDeps,
  { fromRedis, statusesOf }: SharedReads,
  ref: DayRef,
  composition: Composition = livePage,
): DayReader {
  const state: State = {
    shown: undefined,
    answer: undefined,
    askPostgresAtMs: 0,
    postgresError: undefined,
    askStatusesAtMs: Number.POSITIVE_INFINITY,
  }

  const askRedis = (): Promise<RedisDay | undefined> =>
    fromRedis(ref, state.shown).catch(error => {
      logger.debug({ err: error }, 'Redis does not answer; the live screen asks Postgres')
      return undefined
    })

  const askPostgres = async (isMissing: boolean): Promise<DayRead> => {
    state.askPostgresAtMs = performance.now() + postgresEveryMs
    const found = await readFromPostgres(db, topics, ref.eventId, [event => wantedNames(event, ref)])
    if (found === undefined) throw new Error('the event of a live screen no longer exists')
    if (isMissing)
      publishEvents({ db, redis, keys }, new Map([[ref.eventId, { whole: true }]])).catch(error =>
        logger.debug({ err: error }, 'an event that Redis lacks was not published'),
      )
    return dayOf(found)
  }

  /** Reads the figures; keeps them if Redis has none and Postgres was asked less than a second ago. */
  const read = async (): Promise<void> => {
    const hot = await askRedis()
    const isUsable = isDay(hot) && !isBehind(state.answer, hot)
    if (isUsable && !hot.event.isScattered) return show(hot, nextAnswer(state.answer, hot, isFuture))
    if (state.shown !== undefined && performance.now() < state.askPostgresAtMs) {
      if (!isDay(hot) && state.postgresError !== undefined) throw state.postgresError
      return
    }
    state.postgresError = undefined
    try {
      // Postgres is the truth, even if it is behind what was shown.
      const cold = await askPostgres(hot === 'missing')
      show(cold, nextAnswer(undefined, cold, isFuture))
    } catch (error) {
      if (isUsable) return show(hot, nextAnswer(state.answer, hot, isFuture))
      // What was shown stays true; without an answer the screen reports that the connection is lost.
      state.postgresError = error as Error
      if (!isDay(hot)) throw error
    }
  }
  const show = (day: DayRead, answer: LastAnswer) => {
    state.answer = answer
    state.shown = { ...day, asOfMs: answer.asOfMs }
  }

  return async () => {
    const before = state.shown
    await read()
    const { shown } = state
    if (shown === undefined) throw new Error('nothing to show yet')
    const { asOfMs, event } = shown
    const offsetMs = asOfMs === null ? 0 : offsetIn(event.timeZone)(asOfMs)
    const beat = { asOfMs, offsetMs, nowMs: Date.now() }
    const isNews = before?.revision !== shown.revision
    if (!composition.hasStatuses) return isNews ? { beat, shown: composition.compose(shown, ref) } : { beat }
    if (!isNews && performance.now() < state.askStatusesAtMs) return { beat }
    const statuses = await timeout(statusTimeoutMs, statusesOf(ref)).catch(() => null)
    state.askStatusesAtMs = statuses === null ? performance.now() + postgresEveryMs : Number.POSITIVE_INFINITY
    return isNews || statuses !== null ? { beat, shown: composition.compose(shown, ref, statuses) } : { beat }
  }
}

/** This host's clock stands in for the database's: a wrong one only lets `asOf` go back with Redis. */
const isFuture = (asOfMs: number): boolean => asOfMs > Date.now()

const isDay = (read: RedisDay | undefined): read is DayRead => typeof read === 'object'

/** Days that change at about the same time share one query. */
const collectMs = 10

/** Reads a day's orders by status, which only Postgres has. */
type StatusReader = (ref: DayRef) => Promise<Record<OrderStatus, number>>

export function createStatusReader(db: Postgres): StatusReader {
  const loader = new DataLoader((refs: readonly DayRef[]) => readStatuses(db, refs), {
    cache: false,
    batchScheduleFn: read => void setTimeout(read, collectMs),
  })
  return ref => loader.load(ref)
}
