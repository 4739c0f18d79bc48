import type { EventId, OrganizationId } from '@tally/contract'
import { partitionKey, type TopicPartition } from '@tally/kafka'
import type { Published } from '@tally/read-models'
import { joinMarks, type Mark, openPending, type Pending } from './pending.ts'

/** Events and organizations per piece. New changes wait for at most one piece. */
const pieceSize = 20

type BacklogEntry = {
  events: Iterable<EventId>
  organizations: Iterable<OrganizationId>
  /** Events that the mark covers and whose documents are not published. */
  quiet?: Published['events']
  /** Raised once the whole entry is published. */
  mark?: Mark
}

type Piece = {
  /** What to publish; the last piece of an entry includes its mark. */
  pending: Pending
  /**
   * Events of the entry's earlier pieces: the mark covers them too, and the hash that lists them may have gone back.
   */
  noted: Published['events']
  /** Call it once the piece is published; until then `next` returns the same piece. */
  done(published: Published['events']): void
}

/** What must be published again although it is not new: everything if Redis lost its data, or single old documents. */
export type Backlog = {
  /**
   * Adds what is not waiting yet. Marks of one shard cover the same events, so an entry with a mark is merged into one
   * of its shard that has not begun.
   */
  add(entry: BacklogEntry): void
  /**
   * Takes the marks of what was published meanwhile, with its events. If such a mark begins where an entry's mark ends,
   * the entry's mark is extended to its end: Redis refuses a mark that begins above the stored one, so without this the
   * entry would end behind everything published since.
   */
  extend(marks: Iterable<Mark>, published: Published['events']): void
  /** The next piece; undefined if nothing is left. */
  next(): Piece | undefined
  /** Whether anything of the partition is left. */
  holds(of: TopicPartition): boolean
}

type Entry = {
  events: EventId[]
  organizations: OrganizationId[]
  marks: Mark[]
  noted: Map<EventId, Published['events'][number]>
  /** Its first piece was handed out, so its events may already have been read from Postgres. */
  hasBegun: boolean
}

export function openBacklog(): Backlog {
  const entries: Entry[] = []

  /** Ids that are in no entry, or only in a piece that is being published. */
  const notWaiting = <Id>(ids: Iterable<Id>, of: (entry: Entry) => Id[]): Id[] => {
    const waiting = new Set(entries.flatMap(entry => of(entry).slice(entry.hasBegun ? pieceSize : 0)))
    return [...ids].filter(id => !waiting.has(id))
  }

  const append = (added: Pick<Entry, 'events' | 'organizations' | 'marks'>): Entry => {
    const entry = { ...added, noted: new Map(), hasBegun: false }
    if (entry.events.length + entry.organizations.length + entry.marks.length > 0) entries.push(entry)
    return entry
  }

  const addMarked = ({ events, organizations, quiet = [] }: BacklogEntry, mark: Mark): void => {
    const found = entries.find(
      ({ marks, hasBegun }) => !hasBegun && marks.some(({ partition }) => partition === mark.partition),
    )
    if (found === undefined) {
      note(append({ events: [...events], organizations: [...organizations], marks: [mark] }), quiet)
      return
    }
    note(found, quiet)
    found.events = [...new Set([...found.events, ...events])]
    found.organizations = [...new Set([...found.organizations, ...organizations])]
    found.marks.push(mark)
  }

  return {
    add(entry) {
      if (entry.mark !== undefined) return addMarked(entry, entry.mark)
      append({
        events: notWaiting(entry.events, ({ events }) => events),
        organizations: notWaiting(entry.organizations, ({ organizations }) => organizations),
        marks: [],
      })
    },
    extend(marks, published) {
      for (const mark of marks) for (const entry of entries) extendEntry(entry, mark, published)
    },
    next: () => (entries[0] === undefined ? undefined : pieceOf(entries[0], () => entries.shift())),
    holds: of => entries.some(({ marks }) => marks.some(mark => partitionKey(mark) === partitionKey(of))),
  }
}

/** The next piece of an entry; `onLast` is called when its last piece is published. */
function pieceOf(entry: Entry, onLast: () => void): Piece {
  entry.hasBegun = true
  const pending = openPending()
  for (const id of entry.organizations.slice(0, pieceSize)) pending.addOrganization(id)
  for (const id of entry.events.slice(0, pieceSize)) pending.addEvent(id, { whole: true })
  const isLast = Math.max(entry.organizations.length, entry.events.length) <= pieceSize
  if (isLast) for (const mark of entry.marks) pending.addMark(mark)
  return {
    pending,
    noted: isLast ? [...entry.noted.values()] : [],
    done(published) {
      entry.organizations.splice(0, pieceSize)
      entry.events.splice(0, pieceSize)
      note(entry, published)
      if (isLast) onLast()
    },
  }
}

/** Extends the entry's mark of the same partition, if `mark` begins within it or where it ends. */
function extendEntry(entry: Entry, mark: Mark, published: Published['events']): void {
  const at = entry.marks.findIndex(one => partitionKey(one) === partitionKey(mark))
  const known = entry.marks[at]
  if (known === undefined || mark.since < known.since || mark.since > known.revision) return
  entry.marks[at] = joinMarks(known, mark)
  note(
    entry,
    published.filter(({ shard }) => shard === mark.partition),
  )
}

/** Notes published events, each at its highest revision. */
function note({ noted }: Entry, published: Published['events']): void {
  for (const event of published)
    if (event.revision > (noted.get(event.eventId)?.revision ?? -1)) noted.set(event.eventId, event)
}
