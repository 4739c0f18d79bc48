import type { EventId, OrganizationId } from '@tally/contract'
import { partitionKey, type TopicPartition } from '@tally/kafka'
import { joinUnpublished, type Unpublished } from '@tally/read-models'

/** Everything of a partition that changed after revision `since`, up to `revision`. */
export type Mark = TopicPartition & { since: number; revision: number }

/** Pending publications: what was committed but is not in Redis yet, merged by event and by partition. */
export type Pending = {
  events: Map<EventId, Unpublished>
  organizations: Set<OrganizationId>
  marks: Map<string, Mark>
  addEvent(id: EventId, entry: Unpublished): void
  addOrganization(id: OrganizationId): void
  addMark(mark: Mark): void
  addAll(pending: Pending): void
  isEmpty(): boolean
}

export function openPending(): Pending {
  const events = new Map<EventId, Unpublished>()
  const organizations = new Set<OrganizationId>()
  const marks = new Map<string, Mark>()
  const pending: Pending = {
    events,
    organizations,
    marks,
    addEvent: (id, entry) => void events.set(id, joinUnpublished(events.get(id), entry)),
    addOrganization: id => void organizations.add(id),
    addMark: mark => void marks.set(partitionKey(mark), joinMarks(marks.get(partitionKey(mark)), mark)),
    addAll(others) {
      for (const [id, entry] of others.events) pending.addEvent(id, entry)
      for (const id of others.organizations) pending.addOrganization(id)
      for (const mark of others.marks.values()) pending.addMark(mark)
    },
    isEmpty: () => events.size === 0 && organizations.size === 0 && marks.size === 0,
  }
  return pending
}

/** Merges two marks if they touch or overlap; otherwise keeps the later one, and `heal` finds what lies before it. */
export function joinMarks(one: Mark | undefined, other: Mark): Mark {
  if (one === undefined) return other
  const [earlier, later] = one.since <= other.since ? [one, other] : [other, one]
  if (later.since > earlier.revision) return later
  return { ...later, since: earlier.since, revision: Math.max(earlier.revision, later.revision) }
}
