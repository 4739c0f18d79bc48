import type { EventId, OrganizationId } from '@tally/contract'
import type { StoredEvent } from '@tally/figures'
import type { Needs, Read } from '@tally/views'
import { LRUCache } from 'lru-cache'
import { ownText } from '../http/ownText.ts'
import type { Composed } from './composed.ts'
import type { Plan, Question } from './question.ts'

/** How many characters of answers a process remembers. */
const rememberedText = 24 * 1024 * 1024

export type Asked = { eventId: EventId; organizationId: OrganizationId }
export type Answered = {
  event: StoredEvent
  revision: number
  plan: Plan
  composed: Composed
  asOfMs: number | null
}

/** How one question is answered. */
export type Answering = {
  /** The documents that are missing to compose the answer; none if it is remembered. */
  needs: Needs
  /** The answer from what was read; undefined if the event is another organization's or lacks what is asked for. */
  answer(read: Read, asOfMs?: number | null): Answered | undefined
}

/** Composes answers, and remembers each for its event's revision. */
export function createAnswers(): (of: Asked, question: Question) => Answering {
  const remembered = new LRUCache<string, Composed>({
    maxSize: rememberedText,
    sizeCalculation: ({ data }, key) => data.length + key.length + 200,
  })

  return ({ eventId, organizationId }, question) => {
    const planOf = (event: StoredEvent) =>
      event.organizationId === organizationId ? question(event) : undefined
    // Keeps what was found: it may be evicted before the read is back.
    const found = new Map<string, Composed>()
    return {
      needs(event, revision) {
        const plan = planOf(event)
        if (plan === undefined) return []
        const key = keyOf(eventId, revision, plan)
        const composed = remembered.get(key)
        if (composed === undefined) return plan.needs
        found.set(key, composed)
        return []
      },
      answer({ head: { event, revision }, documents, ...read }, asOfMs = read.asOfMs) {
        const plan = planOf(event)
        if (plan === undefined) return undefined
        const key = keyOf(eventId, revision, plan)
        let composed = found.get(key)
        if (composed === undefined) {
          composed = plan.compose(documents)
          remembered.set(ownText(key), composed)
        }
        return { event, revision, plan, composed, asOfMs }
      },
    }
  }
}

const keyOf = (eventId: EventId, revision: number, plan: Plan) => `${eventId}:${revision}:${plan.key}`
