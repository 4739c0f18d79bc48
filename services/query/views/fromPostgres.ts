import type { EventId } from '@tally/contract'
import {
  composeDocuments,
  type DocumentName,
  inSnapshot,
  type Postgres,
  readAsOf,
  readEventHeads,
} from '@tally/read-models'
import type { Needs, Read } from './fromRedis.ts'

export type PostgresSource = (eventId: EventId, needs: Needs) => Promise<Read | undefined>

/**
 * Reads an event from Postgres, in one snapshot and with the same composing as the projector, so that both
 * sources say the same. Undefined where nothing is known of the event.
 */
export function openPostgresSource({ db, topics }: { db: Postgres; topics: string[] }): PostgresSource {
  return (eventId, needs) =>
    inSnapshot(db, async snapshot => {
      const [head] = await readEventHeads(snapshot, [eventId])
      if (head === undefined) return undefined
      const { revision, event, shard } = head
      const names = event === undefined ? [] : needs(event, revision)
      const composed =
        names.length === 0 ? undefined : await composeDocuments(snapshot, { areas: areasOf(eventId, names) })
      const documents = new Map(names.map(name => [name, composed?.get(eventId)?.get(name) ?? '']))
      return {
        head: { eventId, revision, event },
        documents,
        asOfMs: await readAsOf(snapshot, topics, shard),
      }
    })
}

function areasOf(eventId: EventId, names: DocumentName[]) {
  const areas = new Map(
    names.map(name => {
      const [, dayId, areaId] = name.split(':')
      return [`${dayId}:${areaId}`, { eventId, dayId: Number(dayId), areaId: Number(areaId) }]
    }),
  )
  return [...areas.values()]
}
