import type { EventId, OrganizationId } from '@tally/contract'
import { partitionKey, type TopicPartition } from '@tally/kafka'
import type { Published } from '@tally/publication'
import { joinMarks, type Mark, Pending, whole } from './schedule.ts'

/** Events and organizations per piece. New changes wait for at most one piece. */
const pieceSize = 20

/**
 * What Redis lacks. `mark`: to raise once all of it is published. `quiet`: events that the mark covers and whose
 * documents are not published, because they may never be asked for again; their revisions go with the mark, so that a
 * hash of them that went back is recognized as old.
 */
export type Missing = {
  events: EventId[]
  organizations: OrganizationId[]
  quiet?: Published['events']
  mark?: Mark
}

/**
 * What waits together. `covered`: events that its marks cover as well. `hasBegun`: its first piece was handed out, so
 * its events may already have been read from Postgres.
 */
type Entry = {
  events: EventId[]
  organizations: OrganizationId[]
  marks: Mark[]
  covered: Map<EventId, Published['events'][number]>
  hasBegun: boolean
}

/** What must be published again although it is not new: everything if Redis lost its data, or single old documents. */
export class Backlog {
  readonly #entries: Entry[] = []

  /**
   * Adds what is not waiting yet. Marks of one shard cover the same events, so what has a mark is merged into an entry
   * of its shard that has not begun.
   */
  add({ events, organizations, quiet = [], mark }: Missing): void {
    if (mark === undefined) {
      const added = {
        events: this.#notWaiting(events, entry => entry.events),
        organizations: this.#notWaiting(organizations, entry => entry.organizations),
      }
      if (added.events.length + added.organizations.length > 0) Object.assign(this.#append(), added)
      return
    }
    const ofShard = ({ marks, hasBegun }: Entry) =>
      !hasBegun && marks.some(({ partition }) => partition === mark.partition)
    const entry = this.#entries.find(ofShard) ?? this.#append()
    entry.events = [...new Set([...entry.events, ...events])]
    entry.organizations = [...new Set([...entry.organizations, ...organizations])]
    entry.marks.push(mark)
    cover(entry, quiet)
  }

  /**
   * Takes the marks of what was published meanwhile, with its events. Unless such a mark begins behind the end of an
   * entry's mark of its partition, the entry's is extended to its end: Redis refuses a mark that begins above the
   * stored one, so without this the entry would end behind everything published since.
   */
  extend(marks: Iterable<Mark>, published: Published['events']): void {
    for (const mark of marks) {
      const ofShard = published.filter(({ shard }) => shard === mark.partition)
      for (const entry of this.#entries) {
        const at = entry.marks.findIndex(one => partitionKey(one) === partitionKey(mark))
        const known = entry.marks[at]
        if (known === undefined || mark.since > known.revision) continue
        entry.marks[at] = joinMarks(known, mark)
        cover(entry, ofShard)
      }
    }
  }

  /**
   * The next piece, the same until its `done` is called; undefined if nothing is left. The last piece of an entry has
   * its marks, and the events of the pieces before, because the hash that lists these may have gone back.
   */
  next() {
    const [entry] = this.#entries
    if (entry === undefined) return undefined
    entry.hasBegun = true
    const { events, organizations, marks, covered } = entry
    const isLast = Math.max(organizations.length, events.length) <= pieceSize
    const pending = new Pending()
    pending.add({
      events: whole(events.slice(0, pieceSize)),
      organizations: organizations.slice(0, pieceSize),
      marks: isLast ? marks : [],
    })
    return {
      pending,
      covered: isLast ? [...covered.values()] : [],
      done: (published: Published['events']): void => {
        organizations.splice(0, pieceSize)
        events.splice(0, pieceSize)
        cover(entry, published)
        if (isLast) this.#entries.shift()
      },
    }
  }

  /** Whether anything of the partition is left. */
  holds(of: TopicPartition): boolean {
    return this.#entries.some(({ marks }) => marks.some(mark => partitionKey(mark) === partitionKey(of)))
  }

  #append(): Entry {
    const entry = { events: [], organizations: [], marks: [], covered: new Map(), hasBegun: false }
    this.#entries.push(entry)
    return entry
  }

  /** Ids that are in no entry, or only in a piece that is being published. */
  #notWaiting<Id>(ids: Id[], of: (entry: Entry) => Id[]): Id[] {
    const waiting = new Set(this.#entries.flatMap(entry => of(entry).slice(entry.hasBegun ? pieceSize : 0)))
    return ids.filter(id => !waiting.has(id))
  }
}

/** Adds published events to those that the entry's marks cover, each at its highest revision. */
function cover({ covered }: Entry, published: Published['events']): void {
  for (const event of published)
    if (event.revision > (covered.get(event.eventId)?.revision ?? -1)) covered.set(event.eventId, event)
}
