import { setTimeout as sleep } from 'node:timers/promises'
import { isTransient } from '@tally/runtime'
import type { Postgres } from '@tally/storage'
import { sql } from 'kysely'
import { describeLack, findLacking, refusal } from './lacking.ts'
import { NotYetError } from './notYet.ts'
import { groupShards, readSharedShards } from './shardGroups.ts'
import type { SwitchDeps } from './switchDeps.ts'
import { switchOrganizations } from './switchOrganizations.ts'
import { switchShards } from './switchShards.ts'

const switchTries = 5

/**
 * Switches all shards but those that an earlier run `switched`, then the organizations; returns the number of events.
 * Throws before anything is switched if orders or refunds would be removed and may not be.
 */
export async function switchAll(
  deps: SwitchDeps,
  { switched, organizationsTopic }: { switched: number[]; organizationsTopic: string },
): Promise<number> {
  const shards = await readShards(deps.locked, deps.eventsTopic)
  let left = shards.filter(shard => !switched.includes(shard))
  await requireAll(deps, left)
  let events = 0
  while (left.length > 0) {
    const group = await withTries(async () => {
      const [next = []] = groupShards(left, await readSharedShards(deps.locked))
      events += await switchShards(deps, next)
      return next
    })
    left = left.filter(shard => !group.includes(shard))
  }
  await withTries(() => switchOrganizations(deps, organizationsTopic))
  return events
}

async function requireAll(deps: SwitchDeps, shards: number[]): Promise<void> {
  const lacks = await withTries(() => findLacking(deps, shards))
  if (lacks.length === 0) return
  if (!deps.mayRemove) throw new Error(refusal(lacks, deps))
  deps.onRemoving(describeLack(lacks, deps))
}

/** A switch that had to wait too long, or met the projector in a circle of locks, is rolled back and tried again. */
async function withTries<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === switchTries || !(isTransient(error) || error instanceof NotYetError)) throw error
      await sleep(tries * 500)
    }
  }
}

async function readShards(db: Postgres, eventsTopic: string): Promise<number[]> {
  const { rows } = await sql<{ shard: number }>`
select partition as shard from shard_offsets where topic = ${eventsTopic} order by 1`.execute(db)
  return rows.map(({ shard }) => shard)
}
