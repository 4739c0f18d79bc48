import type { EventId, OrganizationId } from '@tally/contract'
import { isTransient, type Postgres } from '@tally/platform'
import { publishEvents } from '@tally/publication'
import type { RedisRead, Seen } from '@tally/views'
import { failureOf } from '../http/problems.ts'
import type { Allowance } from '../limits/limitDecision.ts'
import type { SharedReads } from '../postgres/sharedReads.ts'
import { createColdRead } from './coldReads.ts'
import { createHotReads, type HotReadsDeps, isRead } from './hotReads.ts'
import { createMemory, type Memory } from './memory.ts'
import { type Answered, createAnswers, type EventRef, type Prepared, type Question } from './question.ts'
import { raceWithRetries } from './raceWithRetries.ts'
import { createRepairs, requireEpoch } from './repairs.ts'
import type { Watermarks } from './watermarks.ts'

type Source = 'memory' | 'redis' | 'postgres'
type Found = { source: Source; answered: Answered | undefined }
/** Why Postgres did not answer, and what Redis said before. */
type Failed = {
  error: unknown
  hot: RedisRead | undefined
  askRedis: () => Promise<RedisRead | undefined>
}
export type EventViews = {
  /**
   * Answers a question about an organization's event; undefined if there is no such event, it belongs to another
   * organization, or the question names something that is not the event's. Throws `service-unavailable` if neither
   * Redis nor Postgres can answer. Asks Postgres, and remembers what it read, only with the allowance. `seen` is what
   * the batch of this very request has read, which is then not read again; null if Redis did not answer it, which is
   * then not asked.
   */
  ask(
    event: EventRef,
    question: Question,
    allowance: Allowance,
    seen?: Seen | null,
  ): Promise<Answered | undefined>
  /** Whether remembered answers still hold; undefined if `ask` has to decide. */
  confirm: Memory['confirm']
}

export type EventViewsDeps = HotReadsDeps & {
  db: Postgres
  shared: SharedReads
  watermarks: Pick<Watermarks, 'isStale' | 'isFuture' | 'isPostgresUp'>
  topics: string[]
  /** Called with the source of each answer. */
  onSource: (source: Source) => void
  onFailure: (error: unknown) => void
  /** The ids of an organization's events if Redis has them, for when Postgres is down. */
  listedEvents: (id: OrganizationId) => Promise<string[] | undefined>
}

/**
 * Decides where an answer about an event comes from (docs/architecture.md, Read path): Redis first, and Postgres if
 * Redis is down, does not have the event, holds documents and watermarks that do not fit together (or cannot be
 * checked: a scattered event), is no longer updated, or is behind what this process has answered before. An answer from
 * Postgres is returned as it is, even if it says less than before. What Redis lacked is published afterwards. While
 * Postgres takes long, Redis is asked again. If Postgres is down too, a consistent answer from Redis goes out, however
 * old.
 */
export function createEventViews(deps: EventViewsDeps): EventViews {
  const { breaker, watermarks, onSource, onFailure, listedEvents } = deps
  const memory = createMemory(deps)
  const redis = createHotReads(deps, memory)
  const readPostgres = createColdRead(deps, memory)
  const prepare = createAnswers()
  const epochs = requireEpoch(deps)
  const repair = createRepairs<EventId>(
    2,
    id => publishEvents({ ...deps, epochs }, new Map([[id, { whole: true }]])),
    onFailure,
  )

  /** The answer if only Redis can give one, however old. */
  const answerLast = async (
    { eventId, organizationId }: EventRef,
    { answer }: Prepared,
    { hot, askRedis, error }: Failed,
  ): Promise<Answered | undefined> => {
    const last = await redis.last(hot, askRedis)
    if (isRead(last)) return answer(last, memory.watermark(last))
    // An event that is missing in the organization's list, which Redis has, is not the organization's.
    const listed = last === 'missing' ? await listedEvents(organizationId) : undefined
    if (listed !== undefined && !listed.includes(eventId)) return undefined
    throw failureOf(error)
  }

  return {
    confirm: memory.confirm,
    async ask(event, question, allowance, seen) {
      if (memory.isUnknown(event)) return undefined
      const { eventId } = event
      const prepared = prepare(event, question)
      const cached = memory.head(eventId)
      const askRedis = (seen?: Seen) => redis.read(eventId, prepared.needs, { allowance, seen })
      /** Undefined if Redis is not as new as it should be and Postgres, which knows more, is up. */
      const answerHot = (hot: RedisRead | undefined): Found | undefined => {
        if (isRead(hot) && redis.isCurrent(hot)) memory.keep(hot)
        else if (!redis.isDated(hot) || watermarks.isPostgresUp()) return undefined
        const source = hot.head === cached ? 'memory' : 'redis'
        return { source, answered: prepared.answer(hot, memory.watermark(hot)) }
      }
      const askPostgres = async (isMissing: boolean): Promise<Found> => {
        const cold = await readPostgres(event, prepared.needs)
        if (cold !== undefined && isMissing) repair(eventId)
        return { source: 'postgres', answered: cold && prepared.answer(cold) }
      }

      const hot = seen === null ? await allowance.then(() => undefined) : await askRedis(seen)
      try {
        const { source, answered } =
          answerHot(hot) ??
          (await raceWithRetries(askPostgres(hot === 'missing'), async () => answerHot(await askRedis())))
        onSource(source)
        return answered
      } catch (error) {
        onFailure(error)
        // A Postgres that is only busy will answer the next reads, and one that meets a defect answers others.
        if (isTransient(error) || !watermarks.isPostgresUp()) breaker.forceClosed()
        return answerLast(event, prepared, { hot, askRedis, error })
      }
    },
  }
}
