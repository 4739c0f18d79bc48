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
const rememberedText = 24 * 1024 * 1024

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
  const said = new LRUCache<EventId, Said>({ max: rememberedEvents })
  const repairing = new Set<EventId>()

  const answerKey = (eventId: EventId, revision: number, plan: Plan) => `${eventId}:${revision}:${plan.key}`

  const isBehind = ({ head, asOfMs }: Read): boolean => {
    if (head.revision < (heads.peek(head.eventId)?.revision ?? 0)) return true
    const last = said.peek(head.eventId)
    // In another shard than before nothing was said yet: its moment may well be an earlier one.
    return last !== undefined && last.shard === head.event?.shard && (asOfMs ?? 0) < last.ofShardMs
  }

  const remember = ({ head, asOfMs }: Read) => {
    const known = heads.peek(head.eventId)
    if (head !== known && head.revision >= (known?.revision ?? 0)) heads.set(head.eventId, head)
    if (head.event === undefined || asOfMs === null) return
    const { shard } = head.event
    const last = said.peek(head.eventId)
    if (last?.shard === shard && last.ofShardMs === asOfMs) return
    const ofShardMs = last?.shard === shard ? Math.max(last.ofShardMs, asOfMs) : asOfMs
    said.set(head.eventId, { shard, ofShardMs, atMs: Math.max(last?.atMs ?? 0, asOfMs) })
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
      // What was said before this read began stays true of it, also where the event has moved to a shard that is further behind.
      const saidMs = said.get(eventId)?.atMs
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
        let composed = found.get(key)
        if (composed === undefined) {
          composed = plan.compose(documents)
          answers.set(key, composed)
        }
        return { event, plan, composed, asOfMs: later(asOfMs, saidMs) }
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

/** What was said of an event: of the shard that it is in, and at all. */
type Said = { shard: number; ofShardMs: number; atMs: number }

const later = (one: number | null, other: number | undefined): number | null =>
  one === null || other === undefined ? (one ?? other ?? null) : Math.max(one, other)
