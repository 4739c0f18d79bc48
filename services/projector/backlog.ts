import type { EventId, OrganizationId } from '@tally/contract'
import type { Published } from '@tally/read-models'
import { keyOf, type Mark, openPending, type Partition, type Pending } from './pending.ts'

/** Events and organizations of one piece: what is new waits no longer than a piece takes. */
const pieceSize = 20

export type BacklogEntry = {
  events: Iterable<EventId>
  organizations: Iterable<OrganizationId>
  /** Raised once everything that was added with it is published. */
  mark?: Mark
}

export type Piece = {
  /** What to publish; with the entry's mark if it is its last piece. */
  pending: Pending
  /** Events of the entry's earlier pieces: the mark vouches for them too, and the hash that notes them may have gone back. */
  noted: Published['events']
  /** To be called when the piece is published; until then the next piece is the same. */
  done(published: Published['events']): void
}

/** What has to be published again but is not new: all of a Redis that lost its data, or documents that are old. */
export type Backlog = {
  add(entry: BacklogEntry): void
  /** The next piece; undefined if nothing is left. */
  next(): Piece | undefined
  /** Whether something of the partition is left. */
  holds(of: Partition): boolean
}

type Entry = {
  events: EventId[]
  organizations: OrganizationId[]
  mark: Mark | undefined
  noted: Published['events']
}

export function openBacklog(): Backlog {
  const entries: Entry[] = []

  const pieceOf = (entry: Entry): Piece => {
    const pending = openPending()
    for (const id of entry.organizations.slice(0, pieceSize)) pending.addOrganization(id)
    for (const id of entry.events.slice(0, pieceSize)) pending.addEvent(id, { whole: true })
    const isLast = Math.max(entry.organizations.length, entry.events.length) <= pieceSize
    if (isLast && entry.mark !== undefined) pending.addMark(entry.mark)
    return {
      pending,
      noted: isLast ? entry.noted : [],
      done(published) {
        entry.organizations.splice(0, pieceSize)
        entry.events.splice(0, pieceSize)
        entry.noted.push(...published)
        if (isLast) entries.shift()
      },
    }
  }

  return {
    add({ events, organizations, mark }) {
      const entry: Entry = { events: [...events], organizations: [...organizations], mark, noted: [] }
      if (entry.events.length + entry.organizations.length > 0 || mark !== undefined) entries.push(entry)
    },
    next: () => (entries[0] === undefined ? undefined : pieceOf(entries[0])),
    holds: of => entries.some(({ mark }) => mark !== undefined && keyOf(mark) === keyOf(of)),
  }
}
