import type { Postgres } from '@tally/platform'
import { type Needs, type Read, readFromPostgres } from '@tally/views'
import { LRUCache } from 'lru-cache'
import type { SharedReads } from '../postgres/sharedReads.ts'
import type { Memory } from './memory.ts'
import type { Asked } from './question.ts'

/** An id that Postgres does not know costs a query per second; a new event is found within 1 s all the same. */
const unknownMs = 800
const rememberedUnknown = 20_000

export type ColdReads = {
  /** Whether Postgres was asked less than 800 ms ago, and did not have this event for this organization. */
  isUnknown(of: Asked): boolean
  /** Reads an event, once for all requests that wait for it; undefined if there is no such event. */
  read(of: Asked, needs: Needs): Promise<Read | undefined>
}

/** Reads events from Postgres, and remembers what they say and which ones do not exist. */
export function createColdReads(
  { db, topics, shared }: { db: Postgres; topics: string[]; shared: SharedReads },
  memory: Memory,
): ColdReads {
  /** Until when an organization is assumed not to have an event. */
  const unknown = new LRUCache<string, number>({ max: rememberedUnknown })

  return {
    isUnknown: of => unknown.size > 0 && performance.now() < (unknown.get(keyOf(of)) ?? 0),
    read: (of, needs) =>
      shared.share(of.organizationId, of.eventId, needs, async (asked: Needs[]) => {
        const before = memory.now(of.eventId)
        const askedMs = performance.now()
        const cold = await readFromPostgres(db, topics, of.eventId, asked)
        // Another request may have found it in Redis since: a new event is not unknown again.
        const isFoundSince = before === undefined && memory.now(of.eventId) !== undefined
        if (cold?.head.event.organizationId === of.organizationId) memory.reset(cold, before)
        else if (!isFoundSince) unknown.set(keyOf(of), askedMs + unknownMs)
        return cold
      }),
  }
}

const keyOf = ({ eventId, organizationId }: Asked) => `${organizationId}:${eventId}`
