import type { Postgres } from '@tally/platform'
import { type Needs, type Read, readFromPostgres } from '@tally/views'
import type { SharedReads } from '../postgres/sharedReads.ts'
import type { Memory } from './memory.ts'
import type { Asked } from './question.ts'

/** Reads an event, once for all requests that wait for it; undefined if there is no such event. */
type ColdRead = (of: Asked, needs: Needs) => Promise<Read | undefined>

/** Reads events from Postgres, and remembers what they say and which ones do not exist. */
export function createColdRead(
  { db, topics, shared }: { db: Postgres; topics: string[]; shared: SharedReads },
  memory: Memory,
): ColdRead {
  return (of, needs) =>
    shared.share(of.organizationId, of.eventId, needs, async (asked: Needs[]) => {
      const before = memory.now(of.eventId)
      const askedMs = performance.now()
      const cold = await readFromPostgres(db, topics, of.eventId, asked)
      // Another request may have found it in Redis since: a new event is not unknown again.
      const isFoundSince = before === undefined && memory.now(of.eventId) !== undefined
      if (cold?.head.event.organizationId === of.organizationId) memory.reset(cold, before)
      else if (!isFoundSince) memory.noteUnknown(of, askedMs)
      return cold
    })
}
