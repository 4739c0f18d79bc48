import type { EventId, OrganizationId } from '@tally/contract'
import {
  deleteEmptied,
  lockEvents,
  lockOrganizations,
  readWritten,
  stampOrganizations,
  storeRefundSums,
  writeBatch,
} from '@tally/figures'
import { nextRevision } from '@tally/offsets'
import { inSnapshot, type Postgres, type Tx } from '@tally/platform'
import type { RepairDeps } from '../deps.ts'
import { dropShadow } from '../fromKafka/shadow.ts'
import { agrees, correction, type Difference, type Recount, recount } from '../recount.ts'
import { countEvents, eventIds, organizationIds } from '../verify/known.ts'
import { verifyEvent } from '../verify/verify.ts'
import { publishOrganizationsWhole, publishWhole, removeExtra } from './publishWhole.ts'
import { asOnlyRebuild, finishRun, lockPartition, newRun, noteRevision } from './run.ts'

type RebuildOptions = {
  /** The names of the topics that events and organizations come through. */
  topics: { events: string; organizations: string }
  /** Called once if what an interrupted run from Kafka has read will be dropped. */
  onDropping?: () => void
  onProgress?: (done: number, all: number) => void
}

/** `repaired`: events whose counters or refund sums were wrong. */
type Rebuilt = { events: number; repaired: number }

/**
 * Rebuilds counters and documents from the stored orders and refunds while the service runs, event by event
 * by id (docs/reference.md, Commands).
 */
export function rebuild(deps: RepairDeps, options: RebuildOptions): Promise<Rebuilt> {
  return asOnlyRebuild(deps.db, async locked => {
    const { topics, onProgress = () => {} } = options
    const writing: RebuildDeps = { ...deps, locked, eventsTopic: topics.events }
    await dropShadow(locked, options.onDropping)
    const run = await newRun(locked)
    const all = await countEvents(locked)
    const result: Rebuilt = { events: 0, repaired: 0 }
    onProgress(0, all)
    for await (const eventId of eventIds(deps.db)) {
      if (await rebuildEvent(writing, eventId)) result.repaired += 1
      result.events += 1
      onProgress(result.events, Math.max(all, result.events))
    }
    await rebuildOrganizations(writing, topics.organizations)
    await removeExtra(deps)
    await finishRun(locked, run)
    return result
  })
}

/** `locked` is the connection that a rebuild writes through (run.ts); `eventsTopic` the name of the topic of events. */
type RebuildDeps = RepairDeps & { locked: Postgres; eventsTopic: string }

/** Rounds until an event must agree; one is usual, each further one needs a record that arrived meanwhile. */
const rounds = 12
/** From this round on an event is counted under its lock: orders with wrong sums are written faster than counted. */
const lockedFrom = 3

/**
 * Corrects one event's refund sums, counters and documents while its records keep arriving, and compares
 * them again. Counting takes long and holds no lock: counters move by additions only, so the difference between
 * what was counted and what was stored in one snapshot is still the difference when it is added later. Returns
 * whether anything in Postgres was wrong.
 */
async function rebuildEvent(deps: RebuildDeps, eventId: EventId): Promise<boolean> {
  let wasWrong = false
  let last: Difference | undefined
  for (let round = 0; round < rounds; round++) {
    const pass = await correctEvent(deps, eventId, { isLocked: round >= lockedFrom })
    if (pass === undefined) return wasWrong
    wasWrong ||= !agrees(pass.found)
    if (!pass.isWritten) continue
    await publishWhole(deps, [eventId])

    last = undefined
    await verifyEvent(deps, eventId, difference => {
      last ??= difference
    })
    if (last === undefined) return wasWrong
  }
  const still = last === undefined ? 'its orders keep changing' : JSON.stringify(last)
  throw new Error(
    `event ${eventId} does not agree after ${rounds} rounds (${still}): run \`tally rebuild\` again`,
  )
}

type Pass = { found: Recount; isWritten: boolean }

/**
 * Counts in a snapshot that holds no lock, and then adds what is missing; with `isLocked` it counts once more while the
 * projector waits with this event's shard, and nothing can change in between. Undefined if the event is gone.
 */
async function correctEvent(
  deps: RebuildDeps,
  eventId: EventId,
  { isLocked }: { isLocked: boolean },
): Promise<Pass | undefined> {
  const before = await inSnapshot(deps.db, snapshot => recount(snapshot, eventId))
  if (before === undefined) return undefined
  const { shard } = before.head
  return deps.locked.transaction().execute(async tx => {
    await lockPartition(tx, deps.eventsTopic, shard)
    await lockEvents(tx, new Map([[eventId, shard]]))
    const found = isLocked ? await recount(tx, eventId) : before
    return found && { found, isWritten: await correct(tx, deps, found) }
  })
}

/**
 * Writes what a recount found wrong and stamps a new revision; false if one of the orders in question was written
 * since, so that the event has to be counted again.
 */
async function correct(tx: Tx, { eventsTopic }: RebuildDeps, found: Recount): Promise<boolean> {
  const { head, damaged } = found
  const { eventId, shard } = head
  const orderIds = damaged.map(({ orderId }) => orderId)
  const written = await readWritten(tx, eventId, orderIds)
  // A batch that has changed such an order since counted from the wrong sums, and the difference is another one.
  if (damaged.some(order => written.get(order.orderId) !== order.written)) return false

  const sums = damaged.map(({ orderId, sums }) => ({ eventId, orderId, refunds: sums }))
  const revision = await writeBatch(tx, {
    changes: new Map([[eventId, correction(found.counted, found.stored)]]),
    scattered: [],
    writes: sums.length === 0 ? [] : [storeRefundSums(sums)],
  })
  await deleteEmptied(tx, eventId)
  await noteRevision(tx, { topic: eventsTopic, partition: shard, revision })
  return true
}

const atOnce = 100

/** Stamps a new revision on all organizations (making the rows of those that only events name) and publishes them. */
async function rebuildOrganizations(deps: RebuildDeps, organizationsTopic: string): Promise<void> {
  const ids = await organizationIds(deps.db)
  for (let from = 0; from < ids.length; from += atOnce) {
    const some = ids.slice(from, from + atOnce)
    const revision = await stamp(deps, organizationsTopic, some)
    await publishOrganizationsWhole(
      deps,
      some.map(id => ({ id, revision })),
    )
  }
}

function stamp({ locked }: RebuildDeps, topic: string, ids: OrganizationId[]): Promise<number> {
  return locked.transaction().execute(async tx => {
    await lockPartition(tx, topic, 0)
    await lockOrganizations(tx, ids)
    const revision = await nextRevision(tx)
    await stampOrganizations(tx, ids, revision)
    await noteRevision(tx, { topic, partition: 0, revision })
    return revision
  })
}
