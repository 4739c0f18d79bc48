import {
  lockEvents,
  lockOrganizations,
  readEventHeads,
  readKnownEvents,
  removeEvent,
  stampOrganizations,
} from '@tally/figures'
import { nextRevision } from '@tally/offsets'
import type { Tx } from '@tally/platform'
import { publishOrganizations } from '@tally/publication'
import { sql } from 'kysely'
import type { RepairDeps } from '../deps.ts'
import { publishWhole } from '../rebuild/publishWhole.ts'
import { lockPartition, noteRevision } from '../rebuild/revisions.ts'
import { asOnlyRebuild } from '../rebuild/run.ts'
import type { ChosenEvents, RemovableEvent, RemovedEvent } from './choose.ts'
import { emptyEvent } from './emptyEvent.ts'

export type RemovalOptions = {
  /** The name of the topic of events. */
  eventsTopic: string
  /** Called in the transaction that removes an event, to note who did it. */
  onRemoved: (tx: Tx, event: RemovableEvent) => Promise<void>
  /** Orders deleted, and all that are to be deleted. */
  onProgress?: (done: number, all: number) => void
}

/**
 * Removes events while the service runs (docs/operations.md, Removing events), each in two steps:
 *
 * 1. One short transaction locks the event as a batch does, deletes its record, marks it as removed and stamps a new
 *    revision. From its commit on, the API answers as for an unknown event, and projectors ignore records of it. Then
 *    Redis gets the event as it is now, without documents, under the usual guard. After a crash in between, the
 *    projector notices that Redis lacks the revision and publishes it.
 * 2. Its rows, which nothing reads or writes any more, are deleted in pieces of a few thousand. After a crash, the next
 *    run deletes what is left.
 *
 * No rebuild runs meanwhile: it would count rows that are being deleted.
 */
export function removeEvents(
  deps: RepairDeps,
  { events, unfinished }: ChosenEvents,
  options: RemovalOptions,
): Promise<void> {
  const { onProgress = () => {} } = options
  return asOnlyRebuild(deps.db, async locked => {
    const all = events.reduce((sum, { orders }) => sum + orders, 0)
    let done = 0
    const clear = async ({ eventId, organizationId }: RemovedEvent): Promise<void> => {
      await publishWhole(deps, [eventId])
      if (organizationId !== null) await publishOrganizations(deps, [organizationId])
      for await (const orders of emptyEvent(locked, eventId)) {
        done += orders
        onProgress(done, Math.max(all, done))
      }
    }
    onProgress(done, all)
    for (const removed of unfinished) await clear(removed)
    for (const event of events)
      await clear(await locked.transaction().execute(tx => markRemoved(tx, event, options)))
  })
}

/**
 * Marks an event as removed, and returns it. Locks in the order of a batch: the partition, the event, its
 * organization; the revision is taken after that.
 */
async function markRemoved(
  tx: Tx,
  event: RemovableEvent,
  { eventsTopic: topic, onRemoved }: RemovalOptions,
): Promise<RemovedEvent> {
  const { eventId } = event
  await sql`set local lock_timeout = '30s'`.execute(tx)
  const [head] = await readEventHeads(tx, [eventId])
  if (head === undefined) throw new Error(`event ${eventId} is gone: run the command again`)
  const { shard } = head
  await lockPartition(tx, topic, shard)
  const locked = await lockEvents(tx, new Map([[eventId, shard]]))
  const organizationId = (await readKnownEvents(tx, [eventId])).get(eventId)?.organizationId ?? null
  // Another run was faster.
  if (locked.get(eventId)?.isRemoved) return { eventId, organizationId }
  const organizations = organizationId === null ? [] : [organizationId]
  if (organizations.length > 0) await lockOrganizations(tx, organizations)
  const revision = await nextRevision(tx)
  await removeEvent(tx, { eventId, organizationId }, revision)
  await stampOrganizations(tx, organizations, revision)
  await noteRevision(tx, { topic, partition: shard, revision })
  await onRemoved(tx, event)
  return { eventId, organizationId }
}
