import type { EventId } from '@tally/contract'
import { composeDocuments, type DocumentName, readEventHeads, type View } from '@tally/figures'
import { readAsOf } from '@tally/offsets'
import { inSnapshot, type Postgres } from '@tally/platform'
import type { DocumentTexts, Needs, Read } from './fromRedis.ts'

/** How many documents are composed at once: those of a day with 2,000 menu items take 200 kB. */
const together = 50

/**
 * Reads an event with all documents that are asked for and its watermark, in one snapshot; undefined if it is unknown
 * or has no record yet. The projector composes documents with the same functions, so that Redis and Postgres agree.
 */
export const readFromPostgres = (
  db: Postgres,
  topics: string[],
  eventId: EventId,
  asked: Needs[],
): Promise<Read | undefined> =>
  inSnapshot(db, async snapshot => {
    const [head] = await readEventHeads(snapshot, [eventId])
    if (head?.event === undefined) return undefined
    const { revision, event, shard } = head
    const epoch = head.epoch ?? 0
    const names = [...new Set(asked.flatMap(needs => needs(event, revision)))]
    const documents: DocumentTexts = new Map()
    for (const [view, ofView] of Map.groupBy(names, viewOf)) {
      for (let from = 0; from < ofView.length; from += together) {
        const some = ofView.slice(from, from + together)
        const areas = some.map(name => areaOf(eventId, name))
        const composed = (await composeDocuments(snapshot, { areas }, [view])).get(eventId)
        for (const name of some) documents.set(name, composed?.get(name) ?? '')
      }
    }
    return {
      head: { eventId, revision, event },
      documents,
      asOfMs: await readAsOf(snapshot, topics, shard),
      epochs: { documents: epoch, asOf: epoch },
    }
  })

const viewOf = (name: DocumentName) => name.split(':')[0] as View

function areaOf(eventId: EventId, name: DocumentName) {
  const [, dayId, areaId] = name.split(':')
  return { eventId, dayId: Number(dayId), areaId: Number(areaId) }
}
