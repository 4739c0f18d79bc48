import type { EventId, OrganizationId } from '@tally/contract'
import { partitionKey, type TopicPartition } from '@tally/kafka'
import { joinUnpublished, type Unpublished } from '@tally/publication'

/** How long documents of a partition that is behind may wait: they are composed once for many batches. */
const heldMs = 2_000

/**
 * When pending publications are due. What a partition that is behind has changed is held back, apart from all others,
 * until a batch of it catches up or 2 s have passed. Everything else is due at once.
 */
export class Schedule {
  /** Where to add what must not wait. */
  due = new Pending()
  /** What is held back, by partition. */
  readonly held = new Map<string, Pending>()

  /** Where to add what a batch of the partition changed; if it has caught up, what was held back becomes due. */
  forBatch(of: TopicPartition, isBehind: boolean): Pending {
    const key = partitionKey(of)
    const held = this.held.get(key) ?? new Pending()
    if (isBehind) this.held.set(key, held)
    else this.#release(key, held)
    return isBehind ? held : this.due
  }

  /** Takes everything that is due by now. */
  take(): Pending {
    const now = performance.now()
    for (const [key, held] of this.held) if (now - held.sinceMs >= heldMs) this.#release(key, held)
    const taken = this.due
    this.due = new Pending()
    return taken
  }

  /**
   * Moves what has become due of an event, if it adjoins what `taken` has of it, to `taken`, and returns both as one:
   * otherwise the event has changed since, and would have to be published whole.
   */
  takeMore(taken: Pending, id: EventId): Unpublished | undefined {
    const [entry, more] = [taken.events.get(id), this.due.events.get(id)]
    const both = entry && more && joinUnpublished(entry, more)
    if (both === undefined || both.whole) return undefined
    this.due.events.delete(id)
    taken.events.set(id, both)
    return both
  }

  /** Takes back what could not be published; it is due again. */
  putBack(taken: Pending): void {
    taken.addAll(this.due)
    this.due = taken
  }

  #release(key: string, held: Pending): void {
    this.held.delete(key)
    this.due.addAll(held)
  }
}

/** Everything of a partition that changed after revision `since`, up to `revision`. */
export type Mark = TopicPartition & { since: number; revision: number }

type Added = {
  events: Iterable<readonly [EventId, Unpublished]>
  organizations: Iterable<OrganizationId>
  marks: Iterable<Mark>
}

/** Pending publications: what was committed but is not in Redis yet, merged by event and by partition. */
export class Pending {
  /** When it was begun: what is held back waits for 2 s at most. */
  readonly sinceMs = performance.now()
  readonly events = new Map<EventId, Unpublished>()
  readonly organizations = new Set<OrganizationId>()
  readonly marks = new Map<string, Mark>()

  add({ events, organizations, marks }: Added): void {
    for (const [id, entry] of events) this.events.set(id, joinUnpublished(this.events.get(id), entry))
    for (const id of organizations) this.organizations.add(id)
    for (const mark of marks) {
      const key = partitionKey(mark)
      this.marks.set(key, joinMarks(this.marks.get(key), mark))
    }
  }

  addAll({ events, organizations, marks }: Pending): void {
    this.add({ events, organizations, marks: marks.values() })
  }

  isEmpty(): boolean {
    return this.events.size + this.organizations.size + this.marks.size === 0
  }
}

/** Events of which Redis gets all documents. */
export const whole = (ids: EventId[]) => ids.map(id => [id, { whole: true }] as const)

/** Merges two marks if they touch or overlap; otherwise keeps the later one, and `heal` finds what lies before it. */
export function joinMarks(one: Mark | undefined, other: Mark): Mark {
  if (one === undefined) return other
  const [earlier, later] = one.since <= other.since ? [one, other] : [other, one]
  if (later.since > earlier.revision) return later
  return { ...later, since: earlier.since, revision: Math.max(earlier.revision, later.revision) }
}
