import type { Event } from '@tally/contract'
import { applyEvent } from '@tally/core'
import {
  lockOrganizations,
  nextRevision,
  readKnownEvents,
  stampEvents,
  stampOrganizations,
  storeEvents,
} from '@tally/read-models'
import { type Effects, noEffects } from '../effects.ts'
import { withLockedEvents } from './lockedEvents.ts'

/**
 * Applies the event records of one batch; after a change of the time zone all documents of the event are composed
 * again.
 */
export const applyEvents = withLockedEvents<Event>(
  async (tx, shard, records, { locked }): Promise<Effects> => {
    const effects = noEffects()
    const eventIds = [...new Set(records.map(({ value }) => value.eventId))]
    const known = await readKnownEvents(tx, eventIds)
    const winners = new Map<Event['eventId'], Event>()

    for (const { offset, value: event } of records) {
      const outcome = applyEvent(winners.get(event.eventId) ?? known.get(event.eventId), event)
      if (outcome.outcome === 'rejected') effects.rejected.push({ offset, rejected: outcome })
      else effects.counts[outcome.outcome] += 1
      if (outcome.outcome === 'applied') winners.set(event.eventId, outcome.next)
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
