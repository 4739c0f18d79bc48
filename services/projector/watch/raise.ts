import { openEpoch, type RaisedAsOf, type StoredOffset } from '@tally/read-models'
import type { Attempt } from './attempts.ts'
import type { WatchDeps } from './deps.ts'
import type { Stored } from './stored.ts'

/** Raises the watermarks that are reached. If Postgres does not answer, the result has none. */
export async function raiseInPostgres(
  { asOf, metrics }: WatchDeps,
  attempt: Attempt,
  { nowMs, epoch }: Stored,
): Promise<RaisedAsOf> {
  const reached = asOf.reached()
  let raised: RaisedAsOf = { nowMs, epoch, raised: [] }
  await attempt('raise asOf', async () => {
    raised = await asOf.storeInPostgres(reached)
  })
  for (const { topic, partition, atMs } of reached) {
    metrics.freshness.set({ topic, partition: String(partition) }, (raised.nowMs - atMs) / 1000)
  }
  return raised
}

/** Raises in Redis the watermarks of partitions of which nothing is held back from publication. */
export async function raiseInRedis(deps: WatchDeps, stored: Stored, raised: RaisedAsOf): Promise<void> {
  const { asOf, publisher } = deps
  const settled = stored.assigned.filter(of => !isHeldBack(deps, of))
  const whole = raised.raised.filter(of => !publisher.holdsBack(of, Number.POSITIVE_INFINITY))
  const hasAdded = [...stored.all.values()].some(({ isAdded }) => isAdded)
  const publishable = await asOf.publishable(stored.assigned, [...settled, ...whole], hasAdded)
  // What was read before Postgres came back does not hold for what it has now.
  const { nowMs, epoch } = raised
  if (epoch !== null && epoch === stored.epoch)
    await surpass(deps, await asOf.storeInRedis(publishable, { nowMs, epoch }))
}

/** Whether anything that the partition has committed is held back from publication. */
export const isHeldBack = ({ publisher }: Pick<WatchDeps, 'publisher'>, of: StoredOffset): boolean =>
  publisher.holdsBack(of, of.revision)

/** If Redis is in a later epoch than Postgres (its clock was ahead), opens one above that. */
async function surpass({ db, seen }: WatchDeps, found: Map<number, number>): Promise<void> {
  if (found.size === 0) return
  seen.epoch = Math.max(seen.epoch, ...found.values())
  await openEpoch(db, seen)
}
