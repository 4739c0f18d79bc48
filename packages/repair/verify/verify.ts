import type { RepairDeps } from '../deps.ts'
import type { Difference } from '../differences.ts'
import { type Convergence, type ConvergeTimeouts, shortTimeouts, usualTimeouts } from './converge.ts'
import { countEvents, eventIds, organizationIds, unknownInRedis } from './known.ts'
import { verifyEvent } from './verifyEvent.ts'
import { verifyOrganization } from './verifyOrganization.ts'

export type VerifyOptions = {
  onDifference: (difference: Difference) => void
  /** Events compared so far, and all that there were at the beginning. */
  onProgress?: (done: number, all: number) => void
  timeouts?: ConvergeTimeouts
}

/** `timedOut`: events and organizations that changed so fast that their documents in Redis could not be compared. */
export type Verified = { events: number; differences: number; timedOut: number }

/**
 * Counts everything again from the stored orders and refunds and compares it with the counters and with every
 * document in Redis, event by event, at one revision each (docs/reference.md, Commands). Writes nothing.
 */
export async function verify(
  deps: RepairDeps,
  { onDifference, onProgress = () => {}, timeouts = usualTimeouts }: VerifyOptions,
): Promise<Verified> {
  const result: Verified = { events: 0, differences: 0, timedOut: 0 }
  const report = (difference: Difference) => {
    result.differences += 1
    onDifference(difference)
  }
  const ends = { 'in-sync': 0, diverged: 0, 'timed-out': 0 } satisfies Record<Convergence, number>
  const timeoutsNow = () => (ends.diverged < 4 ? timeouts : shortTimeouts)
  const all = await countEvents(deps.db, null)
  onProgress(0, all)
  for await (const eventId of eventIds(deps.db, null)) {
    ends[await verifyEvent(deps, eventId, report, timeoutsNow())] += 1
    result.events += 1
    onProgress(result.events, Math.max(all, result.events))
  }
  for (const id of await organizationIds(deps.db)) {
    ends[await verifyOrganization(deps, id, report, timeoutsNow())] += 1
  }
  const extra = { where: 'redis', what: 'its key', found: 'a hash', counted: null } as const
  for await (const ids of unknownInRedis(deps, 'event')) {
    for (const event of ids) report({ event, ...extra })
  }
  for await (const ids of unknownInRedis(deps, 'organization')) {
    for (const organization of ids) report({ organization, ...extra })
  }
  return { ...result, timedOut: ends['timed-out'] }
}
