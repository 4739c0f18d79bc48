import type { EventId, OrganizationId } from '@tally/contract'
import {
  allAreas,
  type DocumentName,
  type DocumentOf,
  documentName,
  emptyDocument,
  resolveDay,
  type StoredEvent,
  type View,
} from '@tally/figures'
import type { DocumentTexts, Needs, Read } from '@tally/views'
import { LRUCache } from 'lru-cache'
import { type Composed, composeText, ownText } from '../http/answer.ts'

/**
 * How one request about one event is answered: a key that identifies the answer among those of one revision, the
 * documents it needs, and how it is composed of them.
 */
type Plan = {
  key: string
  /** `meta.dayId`; absent on answers without it. */
  dayId?: number | null
  needs: DocumentName[]
  compose(documents: DocumentTexts): Composed
}

/** A request's question about an event; undefined if it names a day, area or item that is not the event's. */
export type Question = (event: StoredEvent) => Plan | undefined

/** A document that the plan needs. */
export function documentOf<Name extends View>(
  documents: DocumentTexts,
  view: Name,
  dayId: number,
  areaId: number,
): DocumentOf[Name] {
  const text = documents.get(documentName(view, dayId, areaId))
  if (text === undefined) throw new Error(`the document ${view} was not requested`)
  return text === '' ? emptyDocument[view] : (JSON.parse(text) as DocumentOf[Name])
}

type DayQuery = { dayId?: number | undefined; areaId?: number | undefined }

/** The areas of an event that a request may name (docs/api.md, Parameters). */
export const hasArea = ({ areas }: StoredEvent, areaId: number | undefined): boolean =>
  areaId === undefined || areas.some(area => area.areaId === areaId)

export const hasDay = ({ days }: StoredEvent, dayId: number | undefined): boolean =>
  dayId === undefined || days.some(day => day.dayId === dayId)

/**
 * The plan of a question about one day, given or resolved, and one area or all. `toData` makes the answer's data from
 * the view's document, which may have fields that the answer lacks, also those of a newer version; `whenNoDay` is the
 * data if the event has no day (docs/api.md, Answers).
 */
export function planDay<Name extends View>(
  event: StoredEvent,
  view: Name,
  {
    query,
    key,
    toData,
    whenNoDay,
  }: { query: DayQuery; key: string; toData: (document: DocumentOf[Name]) => string; whenNoDay: string },
): Plan | undefined {
  if (!hasDay(event, query.dayId) || !hasArea(event, query.areaId)) return undefined
  const dayId = query.dayId ?? resolveDay(event.days)?.dayId ?? null
  const areaId = query.areaId ?? allAreas
  return {
    key: `${key}:${dayId}:${areaId}`,
    dayId,
    needs: dayId === null ? [] : [documentName(view, dayId, areaId)],
    compose: documents =>
      composeText(dayId === null ? whenNoDay : toData(documentOf(documents, view, dayId, areaId)), dayId),
  }
}

/** How many characters of answers a process remembers. */
const rememberedText = 24 * 1024 * 1024

export type EventRef = { eventId: EventId; organizationId: OrganizationId }
export type Answered = {
  event: StoredEvent
  revision: number
  plan: Plan
  composed: Composed
  asOfMs: number | null
}

/** How one question is answered. */
export type Prepared = {
  /** The documents that are missing to compose the answer; none if it is remembered. */
  needs: Needs
  /** The answer from what was read; undefined if the event is another organization's or lacks what is asked for. */
  answer(read: Read, asOfMs?: number | null): Answered | undefined
}

/** Composes answers, and remembers each for its event's revision. */
export function createAnswers(): (event: EventRef, question: Question) => Prepared {
  const remembered = new LRUCache<string, Composed>({
    maxSize: rememberedText,
    sizeCalculation: ({ text }, key) => text.length + key.length + 200,
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
