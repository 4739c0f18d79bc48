import type { EventId, OrganizationId } from '@tally/contract'
import {
  type Postgres,
  publishEvents,
  type RedisClient,
  type RedisKeys,
  type StoredEvent,
} from '@tally/read-models'
import { LRUCache } from 'lru-cache'
import type { Breaker } from '../breaker.ts'
import { unavailable } from '../http/problems.ts'
import type { RedisTurns } from '../redisTurns.ts'
import { openPostgresSource } from './fromPostgres.ts'
import { type Head, type Needs, openRedisSource, type Read, type RedisRead } from './fromRedis.ts'
import type { Composed } from './composed.ts'
import type { Plan, Question } from './question.ts'

/** Events that a process remembers at their last revision, and how many characters of answers of them. */
const rememberedEvents = 2_000
const rememberedEntries = 100_000
const rememberedText = 48 * 1024 * 1024

export type Answered = { event: StoredEvent; plan: Plan; composed: Composed; asOfMs: number | null }
export type EventViews = {
  /**
   * Answers a question to an organization's event; undefined where there is no such event, it is another
   * organization's, or the question names what is not the event's. Throws `service-unavailable` where no part
   * can tell.
   */
  ask(
    of: { eventId: EventId; organizationId: OrganizationId },
    question: Question,
  ): Promise<Answered | undefined>
}

export type EventViewsParts = {
  db: Postgres
  redis: RedisClient
  keys: RedisKeys
  turns: RedisTurns
  breaker: Breaker
  topics: string[]
  /** Hears where an answer came from. */
  onSource: (source: 'memory' | 'redis' | 'postgres') => void
  onFailure: (error: unknown) => void
  /** The ids of an organization's events where Redis has them, for when Postgres is down. */
  listedEvents: (id: OrganizationId) => Promise<string[] | undefined>
}

/**
 * The one place that decides where an answer comes from: Redis first, and Postgres where Redis is down, does not
 * have the event, or is behind what this process has answered before (a Redis that came back from an old
 * snapshot): a view never goes back to an older revision. What Redis lacked is put there afterwards.
 */
export function openEventViews(parts: EventViewsParts): EventViews {
  const { db, breaker, topics, onSource, onFailure, listedEvents } = parts
  const fromRedis = openRedisSource(parts)
  const fromPostgres = openPostgresSource({ db, topics })
  const heads = new LRUCache<EventId, Head>({
    max: rememberedEvents,
    maxSize: rememberedEntries,
    sizeCalculation: ({ event }) =>
      1 + (event === undefined ? 0 : event.menuItems.length + event.days.length + event.areas.length),
  })
  const answers = new LRUCache<string, Composed>({
    maxSize: rememberedText,
    sizeCalculation: ({ data }, key) => data.length + key.length + 200,
  })
  const said = new LRUCache<EventId, number>({ max: rememberedEvents })
  const repairing = new Set<EventId>()

  const answerKey = (eventId: EventId, revision: number, plan: Plan) => `${eventId}:${revision}:${plan.key}`

  const isBehind = ({ head, asOfMs }: Read): boolean =>
    head.revision < (heads.peek(head.eventId)?.revision ?? 0) ||
    (head.event !== undefined && (asOfMs ?? 0) < (said.peek(head.eventId) ?? 0))

  const remember = ({ head, asOfMs }: Read) => {
    if (head.revision >= (heads.peek(head.eventId)?.revision ?? 0)) heads.set(head.eventId, head)
    if (head.event === undefined || asOfMs === null) return
    if (asOfMs > (said.peek(head.eventId) ?? 0)) said.set(head.eventId, asOfMs)
  }

  /** Redis, asked once more where another request has seen something newer meanwhile; undefined: ask Postgres. */
  const readHot = async (eventId: EventId, needs: Needs): Promise<RedisRead | undefined> => {
    for (let attempt = 0; attempt < 2; attempt++) {
      const cached = heads.get(eventId)
      const hot = await breaker.attempt(() => fromRedis(eventId, needs, cached))
      if (hot === undefined || hot === 'missing') return hot
      if (isBehind(hot)) continue
      onSource(hot.head === cached ? 'memory' : 'redis')
      remember(hot)
      return hot
    }
    return undefined
  }

  const readCold = async (eventId: EventId, needs: Needs): Promise<Read | undefined> => {
    const cold = await fromPostgres(eventId, needs)
    onSource('postgres')
    if (cold !== undefined) remember(cold)
    return cold
  }

  const repair = (eventId: EventId) => {
    if (repairing.has(eventId)) return
    repairing.add(eventId)
    publishEvents(parts, new Map([[eventId, { whole: true }]]))
      .catch(onFailure)
      .finally(() => repairing.delete(eventId))
  }

  return {
    async ask({ eventId, organizationId }, question) {
      const planOf = (event: StoredEvent | undefined) =>
        event?.organizationId === organizationId ? question(event) : undefined
      // Held here from the moment it is found: by the time the read is back it may be forgotten.
      const found = new Map<string, Composed>()
      const needs: Needs = (event, revision) => {
        const plan = planOf(event)
        if (plan === undefined) return []
        const key = answerKey(eventId, revision, plan)
        const composed = answers.get(key)
        if (composed === undefined) return plan.needs
        found.set(key, composed)
        return []
      }
      const answer = ({ head: { event, revision }, documents, asOfMs }: Read): Answered | undefined => {
        const plan = planOf(event)
        if (event === undefined || plan === undefined) return undefined
        const key = answerKey(eventId, revision, plan)
        const composed = found.get(key) ?? plan.compose(documents)
        answers.set(key, composed)
        // What was said of an event stays true, also where it has moved to a partition that is further behind.
        return { event, plan, composed, asOfMs: said.get(eventId) ?? asOfMs }
      }

      const hot = await readHot(eventId, needs)
      // Redis may have lost the moment with the rest; Postgres still knows it.
      const isWhole =
        hot !== undefined && hot !== 'missing' && (hot.asOfMs !== null || hot.head.event === undefined)
      if (isWhole) return answer(hot)
      try {
        const cold = await readCold(eventId, needs)
        if (cold === undefined) return undefined
        if (hot === 'missing') repair(eventId)
        return answer(cold)
      } catch (error) {
        onFailure(error)
        if (hot !== undefined && hot !== 'missing') return answer(hot)
        // Redis answers, Postgres does not: an event that the organization's list does not name is none of its own.
        const listed = hot === 'missing' ? await listedEvents(organizationId) : undefined
        if (listed !== undefined && !listed.includes(eventId)) return undefined
        throw unavailable()
      }
    },
  }
}
