import { setTimeout as sleep } from 'node:timers/promises'
import { checkTopics, type KafkaConnection, partitionKey, topicNames } from '@tally/kafka'
import { isTransient, type Settings } from '@tally/runtime'
import type { Postgres } from '@tally/storage'
import { sql } from 'kysely'
import type { RepairDeps } from '../deps.ts'
import { removeSurplus } from '../rebuild/removeSurplus.ts'
import { asOnlyRebuild } from '../rebuild/run.ts'
import { type Follower, follow } from './follow.ts'
import { NotYetError } from './notYet.ts'
import { closeShadow, openShadow, openShadowPostgres, shadowSchema } from './shadow.ts'
import { isSameLog } from './shadowOffsets.ts'
import { groupShards, readSharedShards } from './shardGroups.ts'
import { switchOrganizations } from './switchOrganizations.ts'
import { type SwitchDeps, switchShards } from './switchShards.ts'

export type FromKafkaOptions = {
  settings: Pick<Settings, 'topicPrefix' | 'databaseUrl' | 'kafkaGroupId'>
  /** Called once if an interrupted run is continued, with how many records it had read. */
  onContinued?: (records: number) => void
  /** Records read, and all that there are to read; at the end they are equal. */
  onProgress?: (done: number, all: number) => void
  /** Whether orders and refunds that the topics do not hold may be removed. */
  mayRemove?: boolean
}

/** `events`: those that were switched by this process; `records`: all that were read, also by an interrupted run. */
export type RebuiltFromKafka = { events: number; records: number }

/** At this distance from the live tables, the remaining records are read while the live projector waits. */
const near = 2_000
const switchTries = 5

/**
 * Rebuilds everything but the API keys from the topics while the service runs: in a schema of its own,
 * with the projector's own code, and when it has caught up switches shard by shard (docs/operations.md, Commands).
 * An interrupted run continues where it stopped. Throws, and switches nothing of a shard, if Postgres has orders or
 * refunds there that the topics do not hold, unless it `mayRemove` them.
 */
export function rebuildFromKafka(
  deps: RepairDeps & { kafka: KafkaConnection },
  { settings, onContinued = () => {}, onProgress = () => {}, mayRemove = false }: FromKafkaOptions,
): Promise<RebuiltFromKafka> {
  const { topicPrefix, databaseUrl, kafkaGroupId } = settings
  return asOnlyRebuild(deps.db, async locked => {
    await checkTopics(deps.kafka, topicPrefix)
    const names = topicNames(topicPrefix)
    const topics = [names.events, names.orders, names.refunds]
    const hasSameLogs = () => isSameLog({ kafka: deps.kafka, db: locked }, [names.organizations, ...topics])
    const run = await openShadow(locked, topicPrefix, hasSameLogs)
    const switched = await readSwitched(locked)
    const shadow = openShadowPostgres(databaseUrl, run.live, 6)
    let follower: Follower | undefined
    try {
      follower = await follow(
        { ...deps, shadow },
        {
          topicPrefix,
          groupId: `${kafkaGroupId}-rebuild-${run.id}`,
          skip: switched.flatMap(shard => topics.map(topic => partitionKey({ topic, partition: shard }))),
        },
      )
      if (run.continued) onContinued(follower.position().done)
      await catchUp(follower, onProgress)
      if (!(await hasSameLogs()))
        throw new Error(
          'a topic was created again, or lost records, while it was read: run this command again',
        )
      const switching = {
        ...deps,
        locked,
        live: run.live,
        follower,
        topics,
        eventsTopic: names.events,
        mayRemove,
      }
      const events = await switchAll(switching, switched, names.organizations)
      const records = follower.position().done
      onProgress(records, records)
      await removeSurplus(deps)
      await follower.stop()
      await closeShadow(locked, run)
      return { events, records }
    } finally {
      await follower?.stop()
      await shadow.destroy()
    }
  })
}

async function catchUp(follower: Follower, onProgress: (done: number, all: number) => void): Promise<void> {
  for (;;) {
    const { done, all } = follower.position()
    onProgress(done, all)
    if (follower.behind() <= near) return
    await Promise.race([sleep(100), follower.failed])
  }
}

async function switchAll(deps: SwitchDeps, switched: number[], organizationsTopic: string): Promise<number> {
  const shards = await readShards(deps.locked, deps.eventsTopic)
  let left = shards.filter(shard => !switched.includes(shard))
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

async function readSwitched(db: Postgres): Promise<number[]> {
  const { rows } = await sql<{
    shard: number
  }>`select shard from ${sql.id(shadowSchema, 'switched')}`.execute(db)
  return rows.map(({ shard }) => shard)
}
