import type { Event, EventId } from '@tally/contract'
import { applyEvent, differingField, eventContent } from '@tally/core'
import {
  lockOrganizations,
  nextRevision,
  readAppliedEvents,
  readKnownEvents,
  stampEvents,
  stampOrganizations,
  storeEvents,
} from '@tally/read-models'
import { addOutcome, type Effects, noEffects } from '../effects.ts'
import { withLockedEvents } from './lockedEvents.ts'

const noEvents: ReadonlyMap<EventId, Event> = new Map()

/**
 * Applies the event records of one batch; after a change of the time zone all documents of the event are composed
 * again.
 */
export const applyEvents = withLockedEvents<Event>(
  async (tx, shard, records, { locked }): Promise<Effects> => {
    const effects = noEffects()
    const eventIds = [...new Set(records.map(({ value }) => value.eventId))]
    const known = await readKnownEvents(tx, eventIds)
    const isRepeat = ({ value }: { value: Event }) => value.version === known.get(value.eventId)?.version
    const repeats = records.filter(isRepeat).map(({ value }) => value.eventId)
    const applied = repeats.length === 0 ? noEvents : await readAppliedEvents(tx, [...new Set(repeats)])
    const winners = new Map<EventId, Event>()

    for (const { offset, value: event } of records) {
      const { eventId } = event
      const winner = winners.get(eventId)
      const outcome = applyEvent(winner ?? known.get(eventId), event, record => {
        const kept = winner ?? applied.get(eventId)
        return kept && differingField(eventContent(kept), eventContent(record))
      })
      addOutcome(effects, offset, outcome)
      if (outcome.outcome === 'applied') winners.set(eventId, outcome.next)
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
