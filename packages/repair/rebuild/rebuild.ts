import type { EventId } from '@tally/contract'
import type { RepairDeps } from '../deps.ts'
import { findShadow } from '../fromKafka/shadow.ts'
import { countEvents, eventIds } from '../verify/known.ts'
import { verifyEvent } from '../verify/verifyEvent.ts'
import { type RebuildDeps, rebuildEvent } from './rebuildEvent.ts'
import { rebuildOrganizations } from './rebuildOrganizations.ts'
import { removeSurplus } from './removeSurplus.ts'
import { asOnlyRebuild, beginRun, finishRun, rememberEvent } from './run.ts'

export type RebuildOptions = {
  /** The names of the topics that events and organizations come through. */
  topics: { events: string; organizations: string }
  /** Called once if an interrupted run is continued, with how many events it had done. */
  onContinued?: (done: number) => void
  onProgress?: (done: number, all: number) => void
}

/** `repaired`: events whose counters or refund sums were wrong. */
export type Rebuilt = { events: number; repaired: number }

/**
 * Rebuilds counters and documents from the stored orders and refunds while the service runs, event by event
 * by id (docs/reference.md, Commands). An interrupted run continues: events that it had done are compared again, and
 * rebuilt only if they differ now.
 */
export function rebuild(deps: RepairDeps, options: RebuildOptions): Promise<Rebuilt> {
  return asOnlyRebuild(deps.db, async locked => {
    const { topics, onContinued = () => {}, onProgress = () => {} } = options
    const writing: RebuildDeps = { ...deps, locked, eventsTopic: topics.events }
    const run = await beginRun(locked, (await findShadow(locked))?.id)
    const [all, left] = [await countEvents(locked, null), await countEvents(locked, run.behind)]
    if (run.continued) onContinued(all - left)

    let done = 0
    const result: Rebuilt = { events: 0, repaired: 0 }
    onProgress(done, all)
    for await (const eventId of eventIds(deps.db, null)) {
      const wasDone = run.behind !== null && eventId <= run.behind
      if (!wasDone || (await differs(deps, eventId))) {
        if (await rebuildEvent(writing, eventId)) result.repaired += 1
        result.events += 1
      }
      if (!wasDone) await rememberEvent(locked, run, eventId)
      done += 1
      onProgress(done, Math.max(all, done))
    }
    await rebuildOrganizations(writing, topics.organizations)
    await removeSurplus(deps)
    await finishRun(locked, run.id)
    return result
  })
}

/** Whether counters or documents of this event differ from its orders and refunds. */
async function differs(deps: RepairDeps, eventId: EventId): Promise<boolean> {
  let found = false
  await verifyEvent(deps, eventId, () => {
    found = true
  })
  return found
}
