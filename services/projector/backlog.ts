import type { EventId, OrganizationId } from '@tally/contract'
import { keyOf, type Mark, openPending, type Partition, type Pending } from './pending.ts'

/** Events and organizations of one piece: what is new waits no longer than a piece takes. */
const pieceSize = 20

export type BacklogEntry = {
  events: Iterable<EventId>
  organizations: Iterable<OrganizationId>
  /** Raised once everything that was added with it is published. */
  mark?: Mark
}

/** What has to be published again but is not new: all of a Redis that lost its data, or documents that are old. */
export type Backlog = {
  add(entry: BacklogEntry): void
  /** The next piece; its marks are those of entries that end with it. */
  take(): Pending
  /** Returns a piece that could not be published. */
  putBack(piece: Pending): void
  isEmpty(): boolean
  /** Whether something of the partition is left. */
  holds(of: Partition): boolean
}

type Entry = { events: EventId[]; organizations: OrganizationId[]; mark: Mark | undefined }

export function openBacklog(): Backlog {
  const entries: Entry[] = []

  return {
    add({ events, organizations, mark }) {
      const entry = { events: [...events], organizations: [...organizations], mark }
      if (entry.events.length + entry.organizations.length > 0 || mark !== undefined) entries.push(entry)
    },
    take() {
      const piece = openPending()
      const [first] = entries
      if (first === undefined) return piece
      for (const id of first.organizations.splice(0, pieceSize)) piece.addOrganization(id)
      for (const id of first.events.splice(0, pieceSize)) piece.addEvent(id, { whole: true })
      if (first.organizations.length + first.events.length > 0) return piece
      entries.shift()
      if (first.mark !== undefined) piece.addMark(first.mark)
      return piece
    },
    putBack({ events, organizations, marks }) {
      const [mark] = marks.values()
      const entry = { events: [...events.keys()], organizations: [...organizations], mark }
      const [first] = entries
      if (mark !== undefined || first === undefined) entries.unshift(entry)
      else entries[0] = { ...first, ...join(entry, first) }
    },
    isEmpty: () => entries.length === 0,
    holds: of => entries.some(({ mark }) => mark !== undefined && keyOf(mark) === keyOf(of)),
  }
}

const join = (one: Entry, other: Entry): Pick<Entry, 'events' | 'organizations'> => ({
  events: [...one.events, ...other.events],
  organizations: [...one.organizations, ...other.organizations],
})
