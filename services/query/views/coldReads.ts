import type { Postgres } from '@tally/platform'
import { type Needs, type Read, readFromPostgres } from '@tally/views'
import type { SharedReads } from '../postgres/sharedReads.ts'
import type { Memory } from './memory.ts'
import type { EventRef } from './question.ts'

/** Reads an event once for all waiting requests; undefined if it does not exist. */
type ColdRead = (event: EventRef, needs: Needs) => Promise<Read | undefined>

/** Reads events from Postgres, and remembers what they say and which ones do not exist. */
export function createColdRead(
  { db, topics, shared }: { db: Postgres; topics: string[]; shared: SharedReads },
  memory: Memory,
): ColdRead {
  return (event, needs) =>
    shared.share(event.organizationId, event.eventId, needs, async (asked: Needs[]) => {
      const before = memory.now(event.eventId)
      const askedMs = performance.now()
      const cold = await readFromPostgres(db, topics, event.eventId, asked)
      // Another request may have found it in Redis since: a new event is not unknown again.
      const isFoundSince = before === undefined && memory.now(event.eventId) !== undefined
      if (cold?.head.event.organizationId === event.organizationId) memory.reset(cold, before)
      else if (!isFoundSince) memory.noteUnknown(event, askedMs)
      return cold
    })
}
