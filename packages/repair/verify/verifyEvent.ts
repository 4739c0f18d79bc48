import type { EventId } from '@tally/contract'
import { type CounterChanges, type EventHead, readEventHeads, readIsQuiet } from '@tally/figures'
import { inSnapshot, type Tx } from '@tally/platform'
import { counterFindings } from '../count/counters.ts'
import { recountEvent } from '../count/recount.ts'
import type { RepairDeps } from '../deps.ts'
import type { Difference, Finding } from '../differences.ts'
import { type Convergence, type ConvergeTimeouts, convergeWithRedis } from './converge.ts'
import { documentFields, fieldFindings } from './documents.ts'
import type { PublishedHash } from './hash.ts'

export type Report = (difference: Difference) => void

/**
 * Compares the stored counters of one event with recounted ones, in one snapshot, and the documents in Redis at that
 * snapshot's revision. `timed-out`: records arrived so fast that Redis was never met at the revision of a snapshot;
 * everything else is compared then. An event of which nothing is stored has no difference, nor has Redis if the
 * documents have expired; of a removed event only Redis is compared.
 */
export async function verifyEvent(
  { db, redis, keys }: RepairDeps,
  eventId: EventId,
  report: Report,
  timeouts?: ConvergeTimeouts,
): Promise<Convergence> {
  const converge = convergeWithRedis(redis, keys.event(eventId), timeouts)
  for (;;) {
    const outcome = await inSnapshot(db, async snapshot => {
      const [head] = await readEventHeads(snapshot, [eventId])
      if (head === undefined || head.revision === 0) return 'in-sync'
      const { convergence, published } = (await isExpired(snapshot, { redis, keys }, eventId))
        ? expired
        : await converge(head.revision)
      if (convergence === 'again') return 'again'
      await compare(snapshot, head, convergence === 'timed-out' ? undefined : published, finding =>
        report({ event: eventId, ...finding }),
      )
      return convergence
    })
    if (outcome !== 'again') return outcome
  }
}

const expired = { convergence: 'in-sync', published: undefined } as const

/** Whether the documents of a quiet event are not in Redis, where nothing keeps them. */
async function isExpired(
  snapshot: Tx,
  { redis, keys }: Pick<RepairDeps, 'redis' | 'keys'>,
  eventId: EventId,
): Promise<boolean> {
  return (await redis.exists(keys.event(eventId))) === 0 && readIsQuiet(snapshot, eventId, keys.quietMs)
}

async function compare(
  snapshot: Tx,
  head: EventHead,
  published: PublishedHash | undefined,
  report: (finding: Finding) => void,
): Promise<void> {
  const counted = head.isRemoved ? new Map() : await compareCounters(snapshot, head, report)
  if (published !== undefined) redisFindings(documentFields(head, counted), published).forEach(report)
}

/** Reports what differs in Postgres, and returns the recounted counters. */
async function compareCounters(
  snapshot: Tx,
  head: EventHead,
  report: (finding: Finding) => void,
): Promise<CounterChanges> {
  const { counted, stored } = await recountEvent(snapshot, head, report)
  counterFindings(counted, stored).forEach(report)
  return counted
}

/** If the revisions differ, only that is reported: every document would differ because of it. */
export function redisFindings(should: Map<string, string>, published: PublishedHash): Finding[] {
  if (published === 'not-a-hash') {
    return [{ where: 'redis', what: 'its key', found: 'another type of value', counted: 'a hash' }]
  }
  const { fields } = published
  const counted = should.get('revision') ?? null
  if (fields.revision !== counted) {
    return [{ where: 'redis', what: 'revision', found: fields.revision ?? null, counted }]
  }
  return fieldFindings(should, fields)
}
