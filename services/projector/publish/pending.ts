import type { EventId, OrganizationId } from '@tally/contract'
import { partitionKey, type TopicPartition } from '@tally/kafka'
import { joinUnpublished, type Unpublished } from '@tally/publication'

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
