import type { Event, EventId } from '@tally/contract'
import {
  type KnownEvent,
  lockOrganizations,
  readAppliedEvents,
  readKnownEvents,
  stampEvents,
  stampOrganizations,
  storeEvents,
} from '@tally/figures'
import { nextRevision } from '@tally/offsets'
import type { Tx } from '@tally/platform'
import { addOutcome, type Effects, noEffects, type Placed, withLockedEvents } from '../effects.ts'
import { applyEvent, differingField, eventContent } from '../judge/versions.ts'

/** So many records are judged together: each that repeats a version may need an applied event of 5 MB. */
const piece = 10

/** Applies a batch's event records; after a change of the time zone all documents of the event are composed again. */
export const applyEvents = withLockedEvents<Event>(
  async (tx, shard, records, { locked }): Promise<Effects> => {
    const effects = noEffects()
    const eventIds = [...new Set(records.map(({ value }) => value.eventId))]
    const known = await readKnownEvents(tx, eventIds)
    const winners = new Map<EventId, Event>()

    for (let from = 0; from < records.length; from += piece) {
      const some = records.slice(from, from + piece)
      const applied = await readRepeated(tx, some, known)
      for (const { offset, value: event } of some) {
        const { eventId } = event
        const winner = winners.get(eventId)
        const outcome = applyEvent(winner ?? known.get(eventId), event, () => {
          const kept = winner ?? applied.get(eventId)
          return kept && differingField(eventContent(kept), eventContent(event))
        })
        addOutcome(effects, offset, outcome)
        if (outcome.outcome === 'applied') winners.set(eventId, outcome.next)
      }
    }
    if (winners.size === 0) return effects

    const events = [...winners.values()]
    const organizations = await lockOrganizations(tx, [
      ...new Set(events.map(({ organizationId }) => organizationId)),
    ])
    const revision = await nextRevision(tx)
    await storeEvents(tx, events)
    for (const { eventId, timeZone } of events) {
      const before = locked.get(eventId)?.revision ?? 0
      const moved = timeZone !== (known.get(eventId)?.timeZone ?? 'UTC')
      effects.events.set(eventId, { before, areas: moved ? 'all' : [], event: true })
    }
    await stampEvents(tx, [...winners.keys()], shard, revision)
    await stampOrganizations(tx, [...organizations.keys()], revision)
    for (const id of organizations.keys()) effects.organizations.add(id)
    return { ...effects, revision }
  },
)

/** The applied records of the events of which a record repeats the version: only those are compared. */
async function readRepeated(
  tx: Tx,
  records: Placed<Event>[],
  known: ReadonlyMap<EventId, KnownEvent>,
): Promise<ReadonlyMap<EventId, Event>> {
  const repeats = records.filter(({ value }) => value.version === known.get(value.eventId)?.version)
  if (repeats.length === 0) return new Map()
  return readAppliedEvents(tx, [...new Set(repeats.map(({ value }) => value.eventId))])
}
