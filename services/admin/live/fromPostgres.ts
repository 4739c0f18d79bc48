import { allAreas } from '@tally/core'
import { composeDocuments, inSnapshot, readAsOf, readEventHeads, type Snapshot } from '@tally/read-models'
import type { Postgres } from '@tally/storage'
import { type DayRead, type DayRef, textsOf, viewsOf } from './day.ts'

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
  { eventId, dayId }: DayRef,
): Promise<DayRead | undefined> {
  const [head] = await readEventHeads(snapshot, [eventId])
  if (head?.event === undefined) return undefined
  const { event, revision, shard } = head
  const epoch = head.epoch ?? 0
  const scope = { areas: [{ eventId, dayId, areaId: allAreas }] }
  const documents = (await composeDocuments(snapshot, scope)).get(eventId)
  const asOfMs = await readAsOf(snapshot, topics, shard)
  return {
    event,
    revision,
    asOfMs,
    epochs: { documents: epoch, asOf: epoch },
    ...textsOf(viewsOf(dayId).map(name => documents?.get(name))),
  }
}
