import { allAreas } from '@tally/core'
import {
  composeDocuments,
  inSnapshot,
  readAsOf,
  readEventHeads,
  type Snapshot,
  type StoredEvent,
  type View,
  views,
} from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import type { DayRead, DayRef } from './day.ts'
import { wantedDays } from './wanted.ts'

/** Reads a day from Postgres, composed by the projector's functions; undefined without such an event. */
export const readDayFromPostgres = (
  db: Postgres,
  topics: string[],
  ref: DayRef,
): Promise<DayRead | undefined> =>
  inSnapshot(db, snapshot => readDaysIn(snapshot, topics, ref, event => wantedDays(event, ref.dayId)))

/** The documents of the days that are wanted of an event, in a snapshot that the caller may read more in. */
export async function readDaysIn(
  snapshot: Snapshot,
  topics: string[],
  { eventId, areaId = allAreas }: Omit<DayRef, 'dayId'>,
  wantedOf: (event: StoredEvent) => Record<View, number[]>,
): Promise<DayRead | undefined> {
  const [head] = await readEventHeads(snapshot, [eventId])
  if (head?.event === undefined) return undefined
  const { event, revision, shard } = head
  const epoch = head.epoch ?? 0
  const documents: DayRead['documents'] = new Map()
  const wanted = wantedOf(event)
  for (const view of views) {
    const areas = wanted[view].map(dayId => ({ eventId, dayId, areaId }))
    const composed = (await composeDocuments(snapshot, { areas }, [view])).get(eventId) ?? []
    for (const [name, text] of composed) documents.set(name, text)
  }
  const asOfMs = await readAsOf(snapshot, topics, shard)
  return {
    event,
    revision,
    asOfMs,
    epochs: { documents: epoch, asOf: epoch },
    documents,
  }
}
