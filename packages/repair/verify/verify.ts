import type { RepairDeps } from '../deps.ts'
import type { Difference } from '../differences.ts'
import { countEvents, eventIds, organizationIds, unknownInRedis } from './known.ts'
import { hurriedPatience, type Meeting, type Patience, usualPatience } from './settle.ts'
import { verifyEvent } from './verifyEvent.ts'
import { verifyOrganization } from './verifyOrganization.ts'

export type VerifyOptions = {
  onDifference: (difference: Difference) => void
  /** Events compared so far, and all that there were at the beginning. */
  onProgress?: (done: number, all: number) => void
  patience?: Patience
}

/** `missed`: events and organizations that changed so fast that their documents in Redis could not be compared. */
export type Verified = { events: number; differences: number; missed: number }

/**
 * Counts everything again from the stored orders and refunds and compares it with the counters and with every
 * document in Redis, event by event, at one revision each (docs/reference.md, Commands). Writes nothing.
 */
export async function verify(
  deps: RepairDeps,
  { onDifference, onProgress = () => {}, patience = usualPatience }: VerifyOptions,
): Promise<Verified> {
  const result: Verified = { events: 0, differences: 0, missed: 0 }
  const report = (difference: Difference) => {
    result.differences += 1
    onDifference(difference)
  }
  const met = { met: 0, apart: 0, missed: 0 } satisfies Record<Meeting, number>
  const patienceNow = () => (met.apart < 4 ? patience : hurriedPatience)
  const all = await countEvents(deps.db, null)
  onProgress(0, all)
  for await (const eventId of eventIds(deps.db, null)) {
    met[await verifyEvent(deps, eventId, report, patienceNow())] += 1
    result.events += 1
    onProgress(result.events, Math.max(all, result.events))
  }
  for (const id of await organizationIds(deps.db)) {
    met[await verifyOrganization(deps, id, report, patienceNow())] += 1
  }
  const surplus = { where: 'redis', what: 'its key', found: 'a hash', counted: null } as const
  for await (const ids of unknownInRedis(deps, 'event')) {
    for (const event of ids) report({ event, ...surplus })
  }
  for await (const ids of unknownInRedis(deps, 'organization')) {
    for (const organization of ids) report({ organization, ...surplus })
  }
  return { ...result, missed: met.missed }
}
