import { setTimeout as sleep } from 'node:timers/promises'
import { isTransient, type Postgres } from '@tally/platform'
import { sql } from 'kysely'
import { describeMissing, findMissing, refusal } from './missing.ts'
import { isSplit } from './shardEvents.ts'
import { switchOrganizations } from './switchOrganizations.ts'
import { switchShards } from './switchShards.ts'
import type { SwitchDeps } from './whileInSync.ts'

const switchTries = 5

/**
 * Switches the shards one by one, then the organizations; returns the number of events. Events that have records in
 * several shards, because partitions were added, are switched as a whole: then all shards are switched at once. Throws
 * before anything is switched if orders or refunds would be removed and may not be.
 */
export async function switchAll(deps: SwitchDeps): Promise<number> {
  const shards = await readShards(deps.locked, deps.topics.events)
  await requireAll(deps, shards)
  let events = 0
  for (const shard of shards) {
    const isLast = await withTries(async () => {
      const isTogether = shards.length === 1 || (await isSplit(deps.locked, shard))
      const count = await switchShards(deps, isTogether ? shards : [shard], { isTogether })
      events = isTogether ? count : events + count
      return isTogether
    })
    if (isLast) break
  }
  await withTries(() => switchOrganizations(deps, shards))
  return events
}

async function requireAll(deps: SwitchDeps, shards: number[]): Promise<void> {
  const missing = await withTries(() => findMissing(deps, shards))
  if (missing.length === 0) return
  if (!deps.mayRemove) throw new Error(refusal(missing, deps.topics))
  deps.onRemoving(describeMissing(missing, deps.topics))
}

/** A switch that had to wait too long, or met the projector in a circle of locks, is rolled back and tried again. */
async function withTries<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === switchTries || !isTransient(error)) throw error
      await sleep(tries * 500)
    }
  }
}

async function readShards(db: Postgres, eventsTopic: string): Promise<number[]> {
  const { rows } = await sql<{ shard: number }>`
select partition as shard from shard_offsets where topic = ${eventsTopic} order by 1`.execute(db)
  return rows.map(({ shard }) => shard)
}
