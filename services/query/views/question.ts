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
import type { DocumentTexts } from '@tally/views'
import { type Composed, composeText } from './composed.ts'

/**
 * How one request about one event is answered: a key that identifies the answer among those of one revision, the
 * documents it needs, and how it is composed of them.
 */
export type Plan = {
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

export type DayQuery = { dayId?: number | undefined; areaId?: number | undefined }

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
