import { allAreas } from '@tally/core'
import {
  composeDocuments,
  inSnapshot,
  readAsOf,
  readEventHeads,
  type Snapshot,
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
): Promise<DayRead | undefined> => inSnapshot(db, snapshot => readDayIn(snapshot, topics, ref))

/** The same in a snapshot that the caller reads more in. */
export async function readDayIn(
  snapshot: Snapshot,
  topics: string[],
  { eventId, dayId, areaId = allAreas }: DayRef,
): Promise<DayRead | undefined> {
  const [head] = await readEventHeads(snapshot, [eventId])
  if (head?.event === undefined) return undefined
  const { event, revision, shard } = head
  const epoch = head.epoch ?? 0
  const documents: DayRead['documents'] = new Map()
  const wanted = wantedDays(event, dayId)
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
