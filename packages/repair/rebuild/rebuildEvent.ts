import type { EventId } from '@tally/contract'
import { lockEvents, readEventHeads, readWritten, storeRefundSums, writeBatch } from '@tally/figures'
import { inSnapshot, type Postgres, type Tx } from '@tally/platform'
import { correction } from '../count/counters.ts'
import { agrees, type Recount, recount } from '../count/recount.ts'
import type { RepairDeps } from '../deps.ts'
import type { Difference } from '../differences.ts'
import { verifyEvent } from '../verify/verifyEvent.ts'
import { publishWhole } from './publishWhole.ts'
import { lockPartition, noteRevision } from './revisions.ts'

/** `locked` is the connection that a rebuild writes through (run.ts); `eventsTopic` the name of the topic of events. */
export type RebuildDeps = RepairDeps & { locked: Postgres; eventsTopic: string }

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
export async function rebuildEvent(deps: RebuildDeps, eventId: EventId): Promise<boolean> {
  let wasWrong = false
  let last: Difference | undefined
  for (let round = 0; round < rounds; round++) {
    const pass = await (round < lockedFrom ? besideWriters(deps, eventId) : underLock(deps, eventId))
    if (pass === 'gone') return wasWrong
    wasWrong ||= pass.wasWrong
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

type Pass = { wasWrong: boolean; isWritten: boolean } | 'gone'

/** Counts in a snapshot that holds no lock, and then adds what is missing. */
async function besideWriters(deps: RebuildDeps, eventId: EventId): Promise<Pass> {
  const found = await inSnapshot(deps.db, snapshot => recount(snapshot, eventId))
  if (found === undefined) return 'gone'
  const isWritten = await deps.locked.transaction().execute(tx => correct(tx, deps, found))
  return { wasWrong: !agrees(found), isWritten }
}

/** Counts while the projector waits with this event's shard: nothing can change in between. */
async function underLock(deps: RebuildDeps, eventId: EventId): Promise<Pass> {
  return deps.locked.transaction().execute(async tx => {
    const [head] = await readEventHeads(tx, [eventId])
    if (head === undefined) return 'gone'
    await lockPartition(tx, deps.eventsTopic, head.shard)
    await lockEvents(tx, new Map([[eventId, head.shard]]))
    const found = await recount(tx, eventId)
    if (found === undefined) return 'gone'
    return { wasWrong: !agrees(found), isWritten: await correct(tx, deps, found) }
  })
}

/**
 * Writes what a recount found wrong and stamps a new revision, in one short transaction; false if one of the orders in
 * question was written since, so that the event has to be counted again.
 */
async function correct(tx: Tx, { eventsTopic }: RebuildDeps, found: Recount): Promise<boolean> {
  const { eventId, shard } = found.head
  await lockPartition(tx, eventsTopic, shard)
  await lockEvents(tx, new Map([[eventId, shard]]))
  if (!(await areUntouched(tx, found))) return false

  const sums = found.damaged.map(({ orderId, sums }) => ({ eventId, orderId, refunds: sums }))
  const revision = await writeBatch(tx, {
    changes: new Map([[eventId, correction(found.counted, found.stored)]]),
    scattered: [],
    writes: sums.length === 0 ? [] : [storeRefundSums(sums)],
  })
  await noteRevision(tx, { topic: eventsTopic, partition: shard, revision })
  return true
}

/** If a batch has changed a damaged order since, it counted from the wrong sums, and the difference is another one. */
async function areUntouched(tx: Tx, { head, damaged }: Recount): Promise<boolean> {
  if (damaged.length === 0) return true
  const written = await readWritten(
    tx,
    head.eventId,
    damaged.map(({ orderId }) => orderId),
  )
  return damaged.every(order => written.get(order.orderId) === order.written)
}
