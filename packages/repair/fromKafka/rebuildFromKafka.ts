import { setTimeout as sleep } from 'node:timers/promises'
import { checkTopics, type KafkaConnection, partitionKey, topicNames } from '@tally/kafka'
import type { Settings } from '@tally/runtime'
import type { Postgres } from '@tally/storage'
import { sql } from 'kysely'
import type { RepairDeps } from '../deps.ts'
import { removeSurplus } from '../rebuild/removeSurplus.ts'
import { asOnlyRebuild } from '../rebuild/run.ts'
import { type Follower, follow } from './follow.ts'
import { closeShadow, openShadow, openShadowPostgres, shadowSchema } from './shadow.ts'
import { isSameLog } from './shadowOffsets.ts'
import { switchAll } from './switchAll.ts'

export type FromKafkaOptions = {
  settings: Pick<Settings, 'topicPrefix' | 'databaseUrl' | 'kafkaGroupId'>
  /** Called once if an interrupted run is continued, with how many records it had read. */
  onContinued?: (records: number) => void
  /** Records read, and all that there are to read; at the end they are equal. */
  onProgress?: (done: number, all: number) => void
  /** Whether orders and refunds that the topics do not hold may be removed. */
  mayRemove?: boolean
  /** Called once if some will be removed, with how many of which partitions. */
  onRemoving?: (what: string) => void
}

/** `events`: those that were switched by this process; `records`: all that were read, also by an interrupted run. */
export type RebuiltFromKafka = { events: number; records: number }

/** At this distance from the live tables, the remaining records are read while the live projector waits. */
const near = 2_000

/**
 * Rebuilds everything but the API keys from the topics while the service runs: in a schema of its own,
 * with the projector's own code, and when it has caught up switches shard by shard (docs/reference.md, Commands).
 * An interrupted run continues where it stopped. Throws before it switches anything if Postgres has orders or refunds
 * that the topics do not hold, unless it `mayRemove` them.
 */
export function rebuildFromKafka(
  deps: RepairDeps & { kafka: KafkaConnection },
  options: FromKafkaOptions,
): Promise<RebuiltFromKafka> {
  const { onContinued = () => {}, onProgress = () => {}, mayRemove = false, onRemoving = () => {} } = options
  const { topicPrefix, databaseUrl, kafkaGroupId } = options.settings
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
        ordersTopic: names.orders,
        refundsTopic: names.refunds,
        mayRemove,
        onRemoving,
      }
      const events = await switchAll(switching, { switched, organizationsTopic: names.organizations })
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

async function readSwitched(db: Postgres): Promise<number[]> {
  const { rows } = await sql<{
    shard: number
  }>`select shard from ${sql.id(shadowSchema, 'switched')}`.execute(db)
  return rows.map(({ shard }) => shard)
}
