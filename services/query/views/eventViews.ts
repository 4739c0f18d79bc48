import { setTimeout as sleep } from 'node:timers/promises'
import type { EventId, OrganizationId } from '@tally/contract'
import type { ReadModelRedis } from '@tally/read-models'
import { publishEvents, type RedisKeys, type StoredEvent } from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import { LRUCache } from 'lru-cache'
import { unavailable } from '../http/problems.ts'
import type { Permit } from '../permit.ts'
import { Overloaded } from '../postgres/gate.ts'
import type { SharedReads } from '../postgres/sharedReads.ts'
import type { Breaker } from '../redis/breaker.ts'
import type { RedisTurns } from '../redis/requestBatch.ts'
import type { Composed } from './composed.ts'
import { openPostgresSource } from './fromPostgres.ts'
import { type Needs, openRedisSource, type Read, type RedisRead } from './fromRedis.ts'
import { openMemory } from './memory.ts'
import { orAgain } from './orAgain.ts'
import type { Plan, Question } from './question.ts'
import { openRepairs, requireEpoch } from './repairs.ts'
import type { Watermarks } from './watermarks.ts'

/** How many characters of answers a process remembers. */
const rememberedText = 24 * 1024 * 1024
/** An id that Postgres does not know costs one query per second; with the time that takes, a new event is found within 1 s. */
const unknownMs = 800
const rememberedUnknown = 20_000
/** How long Redis is asked again when Postgres does not answer; a tick of the projector takes 0.4 s. */
const lastReadMs = 800
const lastRetryMs = 100

export type Answered = { event: StoredEvent; plan: Plan; composed: Composed; asOfMs: number | null }
type Source = 'memory' | 'redis' | 'postgres'
type Found = { source: Source; answered: Answered | undefined }
type Asked = { eventId: EventId; organizationId: OrganizationId }
export type EventViews = {
  /**
   * Answers a question about an organization's event; undefined if there is no such event, it belongs to another
   * organization, or the question names something that is not the event's. Throws `service-unavailable` if neither
   * Redis nor Postgres can answer. Asks Postgres, and remembers what it read, only with the permit.
   */
  ask(of: Asked, question: Question, permit: Permit): Promise<Answered | undefined>
}

export type EventViewsParts = {
  db: Postgres
  redis: ReadModelRedis
  keys: RedisKeys
  turns: RedisTurns
  breaker: Breaker
  shared: SharedReads
  watermarks: Pick<Watermarks, 'isBehind' | 'isPostgresUp'>
  topics: string[]
  /** Hears where an answer came from. */
  onSource: (source: Source) => void
  onFailure: (error: unknown) => void
  /** The ids of an organization's events if Redis has them, for when Postgres is down. */
  listedEvents: (id: OrganizationId) => Promise<string[] | undefined>
}

/**
 * The one place that decides where an answer comes from: Redis first, and Postgres if Redis is down, does not have the
 * event, holds documents and watermarks that do not fit together (or cannot be checked: a scattered event), is no
 * longer updated, or is behind what this process has answered before. An answer from Postgres is returned as it is,
 * even if it says less than before. What Redis lacked is published afterwards. While Postgres takes long, Redis is asked
 * again. If Postgres is down too, a consistent answer from Redis goes out, however old.
 */
export function openEventViews(parts: EventViewsParts): EventViews {
  const { db, breaker, shared, watermarks, topics, onSource, onFailure, listedEvents } = parts
  const fromRedis = openRedisSource(parts)
  const fromPostgres = openPostgresSource({ db, topics })
  const memory = openMemory()
  const answers = new LRUCache<string, Composed>({
    maxSize: rememberedText,
    sizeCalculation: ({ data }, key) => data.length + key.length + 200,
  })
  /** Events that an organization does not have, with the time until which that is assumed. */
  const unknown = new LRUCache<string, number>({ max: rememberedUnknown })
  const epochs = requireEpoch(parts)
  const repair = openRepairs(
    id => publishEvents({ ...parts, epochs }, new Map([[id, { whole: true }]])),
    onFailure,
  )

  const answerKey = (eventId: EventId, revision: number, plan: Plan) => `${eventId}:${revision}:${plan.key}`

  /** Asks Redis, and once more if another request has seen something newer meanwhile. */
  const readHot = async (eventId: EventId, needs: Needs, permit: Permit): Promise<RedisRead | undefined> => {
    for (let attempt = 0; ; attempt++) {
      const sinceMs = performance.now()
      const hot = await breaker.attempt(
        () => fromRedis(eventId, needs, memory.head(eventId), permit),
        sinceMs,
      )
      await permit
      if (attempt > 0 || !isRead(hot) || !memory.isAhead(hot)) return hot
    }
  }

  /** Whether what Redis says is as new as it should be. */
  const isCurrent = (hot: RedisRead | undefined): hot is Read =>
    isRead(hot) &&
    !breaker.refusesWrites() &&
    hot.asOfMs !== null &&
    !hot.head.event.isScattered &&
    !memory.isAhead(hot) &&
    !watermarks.isBehind(hot.head.event.shard, hot.asOfMs)

  const readCold = ({ eventId, organizationId }: Asked, needs: Needs): Promise<Read | undefined> =>
    shared.share(organizationId, eventId, needs, async (asked: Needs[]) => {
      const before = memory.now(eventId)
      const askedMs = performance.now()
      const cold = await fromPostgres(eventId, asked)
      if (cold?.head.event.organizationId === organizationId) memory.reset(cold, before)
      else unknown.set(`${organizationId}:${eventId}`, askedMs + unknownMs)
      return cold
    })

  const isDated = (read: RedisRead | undefined): read is Read => isRead(read) && memory.sayable(read) !== null

  /**
   * Redis, when nobody else can answer. A projector that found Postgres restarted tells the watermarks anew within a tick:
   * that is worth a short wait.
   */
  const readLast = async (
    hot: RedisRead | undefined,
    again: () => Promise<RedisRead | undefined>,
  ): Promise<RedisRead | undefined> => {
    const isFinal = (read: RedisRead | undefined) => isDated(read) || read === 'missing'
    const endMs = performance.now() + lastReadMs
    let last = isFinal(hot) ? hot : await again()
    while (!isFinal(last) && performance.now() < endMs) {
      await sleep(lastRetryMs)
      last = await again()
    }
    return last
  }

  const isUnknown = ({ eventId, organizationId }: Asked): boolean =>
    performance.now() < (unknown.get(`${organizationId}:${eventId}`) ?? 0)

  return {
    async ask(of, question, permit) {
      const { eventId, organizationId } = of
      if (isUnknown(of)) return undefined
      const planOf = (event: StoredEvent) =>
        event.organizationId === organizationId ? question(event) : undefined
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
      const answer = (
        { head: { event, revision }, documents, ...read }: Read,
        asOfMs = read.asOfMs,
      ): Answered | undefined => {
        const plan = planOf(event)
        if (plan === undefined) return undefined
        const key = answerKey(eventId, revision, plan)
        let composed = found.get(key)
        if (composed === undefined) {
          composed = plan.compose(documents)
          answers.set(key, composed)
        }
        return { event, plan, composed, asOfMs }
      }

      const cached = memory.head(eventId)
      const askRedis = () => readHot(eventId, needs, permit)
      /** Undefined if Redis is not as new as it should be and Postgres, which knows more, is up. */
      const answerHot = (hot: RedisRead | undefined): Found | undefined => {
        if (isCurrent(hot)) memory.keep(hot)
        else if (!isDated(hot) || watermarks.isPostgresUp()) return undefined
        const source = hot.head === cached ? 'memory' : 'redis'
        return { source, answered: answer(hot, memory.sayable(hot)) }
      }
      const askPostgres = async (): Promise<Found> => {
        const cold = await readCold(of, needs)
        if (cold !== undefined && hot === 'missing') repair(eventId)
        return { source: 'postgres', answered: cold && answer(cold) }
      }

      const hot = await askRedis()
      try {
        const { source, answered } =
          answerHot(hot) ?? (await orAgain(askPostgres(), async () => answerHot(await askRedis())))
        onSource(source)
        return answered
      } catch (error) {
        onFailure(error)
        // A Postgres that is only busy will answer the next reads.
        if (!(error instanceof Overloaded && watermarks.isPostgresUp())) breaker.rely()
        const again = await readLast(hot, askRedis)
        if (isRead(again)) return answer(again, memory.sayable(again))
        // Redis answers, Postgres does not: an event that the organization's list does not name is none of its own.
        const listed = again === 'missing' ? await listedEvents(organizationId) : undefined
        if (listed !== undefined && !listed.includes(eventId)) return undefined
        throw unavailable()
      }
    },
  }
}

const isRead = (read: RedisRead | undefined): read is Read => typeof read === 'object'
