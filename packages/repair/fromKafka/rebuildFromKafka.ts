import { setTimeout as sleep } from 'node:timers/promises'
import { checkTopics, type KafkaConnection, recordTopics, topicNames } from '@tally/kafka'
import type { Settings } from '@tally/platform'
import type { RepairDeps } from '../deps.ts'
import { removeExtra } from '../rebuild/publishWhole.ts'
import { asOnlyRebuild } from '../rebuild/run.ts'
import { type Follower, follow } from './follow.ts'
import { closeShadow, isSameLog, openShadow, openShadowPostgres } from './shadow.ts'
import { switchAll } from './switchAll.ts'

type FromKafkaOptions = {
  settings: Pick<Settings, 'topicPrefix' | 'databaseUrl' | 'kafkaGroupId'>
  /** Called once if an interrupted run is continued, with how many records it had read. */
  onContinued: (records: number) => void
  /** Records read, and all that there are to read; at the end they are equal. */
  onProgress: (done: number, all: number) => void
  /** Whether records that the topics do not hold may be removed. */
  mayRemove: boolean
  /** Called once if some were removed, with how many. */
  onRemoved: (what: string) => void
}

/** `records`: all that were read, also by an interrupted run. */
type RebuiltFromKafka = { events: number; records: number }

/** At this distance from the live tables, the remaining records are read while the live projector waits. */
const near = 2_000

/**
 * Rebuilds everything but the API keys from the topics while the service runs: in a schema of its own,
 * with the projector's own code, and when it has caught up switches everything at once (docs/reference.md, Commands).
 * An interrupted run continues where it stopped. Throws before it switches anything if Postgres has records that
 * the topics do not hold, unless it `mayRemove` them.
 */
export function rebuildFromKafka(
  deps: RepairDeps & { kafka: KafkaConnection },
  { settings, onContinued, onProgress, mayRemove, onRemoved }: FromKafkaOptions,
): Promise<RebuiltFromKafka> {
  const { topicPrefix, databaseUrl, kafkaGroupId } = settings
  return asOnlyRebuild(deps.db, async locked => {
    await checkTopics(deps.kafka, topicPrefix)
    const topics = topicNames(topicPrefix)
    const hasSameLogs = () => isSameLog({ kafka: deps.kafka, db: locked }, [...recordTopics(topics).keys()])
    const run = await openShadow(locked, topicPrefix, hasSameLogs)
    const shadow = await openShadowPostgres(locked, databaseUrl, 6)
    let follower: Follower | undefined
    try {
      follower = await follow(
        { ...deps, shadow },
        { topicPrefix, groupId: `${kafkaGroupId}-rebuild-${run.id}` },
      )
      if (run.continued) onContinued(follower.position().done)
      await catchUp(follower, onProgress)
      if (!(await hasSameLogs()))
        throw new Error(
          'a topic was created again, or lost records, while it was read: run this command again',
        )
      const events = await switchAll({ ...deps, locked, shadow, follower, topics, mayRemove, onRemoved })
      const records = follower.position().done
      onProgress(records, records)
      await removeExtra(deps)
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
