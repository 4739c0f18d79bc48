import { partitionKey, type TopicPartition } from '@tally/kafka'
import type { RaisedAsOf, StoredOffset } from '@tally/read-models'
import { answers } from '@tally/runtime'
import { openAttempts } from './attempts.ts'
import type { WatchDeps } from './deps.ts'
import { noteEnds } from './ends.ts'
import { hasAdded, isHeldBack, raiseInPostgres, raiseInRedis } from './raise.ts'
import { findLost, readOrRestore, type Stored } from './stored.ts'

/** Longer than all of it usually takes. */
const waitMs = 100

/** `settle` waits for the work that ticks have started and not awaited. */
export type Tick = { tick: () => Promise<void>; settle: () => Promise<unknown> }

/**
 * One tick of the watch. Each step relies on the ones before it:
 *
 * 1. read the stored offsets, at a time of the database's clock. Without them the tick ends here.
 * 2. find commits that Postgres has lost. The applied offsets are copied before 1, so that a batch that commits
 *    meanwhile does not look like a lost one.
 * 3. note the ends of the partitions at the time of 1. Not awaited: while Kafka is down, watermarks stand still, but
 *    Redis is still repaired. One request at a time; the ends serve the ticks that follow.
 * 4. raise the watermarks in Postgres.
 * 5. publish what is pending and what Redis lacks. The backlog is not awaited, so that new changes do not wait for it.
 * 6. raise the watermarks in Redis, of partitions of which nothing is held back.
 * 7. take the next step of the walk.
 * 8. measure what organizations take, once a minute. Not awaited: it may count many rows.
 *
 * Steps 5 to 7 need Redis: the first one that fails ends them. A failure is logged, and the next tick tries again. They
 * run once at a time, and a tick waits 100 ms for them: if they take longer, because large documents are published, it
 * raises the watermarks of the partitions of which all is published already (the script in Redis checks that), and
 * ends. Otherwise `asOf` of all events would stand still for as long as the documents of one take.
 */
export function openTick(deps: WatchDeps, isStopping: () => boolean): Tick {
  const { asOf, publisher, walk, sizes, assigned, refusals } = deps
  const attempt = openAttempts(deps)
  let notingEnds: Promise<boolean> | undefined
  let draining: Promise<boolean> | undefined
  let updating: Promise<boolean> | undefined
  let measuring: Promise<boolean> | undefined

  const startNotingEnds = (partitions: TopicPartition[], stored: Stored): void => {
    notingEnds ??= attempt('note ends', () => learnEnds(deps, partitions, stored)).finally(() => {
      notingEnds = undefined
    })
  }

  const update = (partitions: TopicPartition[], stored: Stored, raised: RaisedAsOf): Promise<boolean> => {
    const steps = async () => {
      await publish(deps, stored.assigned) // 5
      draining = attempt('drain', () => publisher.drain(isStopping))
      await raiseInRedis(deps, stored, raised) // 6
      await walk.step(partitions) // 7
    }
    updating ??= attempt('update Redis', () => refusals.during(steps)).finally(() => {
      updating = undefined
    })
    return updating
  }

  const tick = async (): Promise<void> => {
    const partitions = assigned()
    if (partitions.length === 0) return
    const before = asOf.appliedNow()
    const stored = await readOrRestore(deps, attempt, partitions) // 1
    if (stored === undefined) return
    findLost(deps, before, stored.assigned) // 2
    startNotingEnds(partitions, stored) // 3
    const raised = await raiseInPostgres(deps, attempt, stored) // 4
    await answers(waitMs, () => update(partitions, stored, raised))
    if (updating !== undefined && !hasAdded(stored.all))
      await attempt('raise others', () => raiseInRedis(deps, stored, raised))
    measuring ??= attempt('measure', () => sizes.step(partitions)).finally(() => {
      measuring = undefined
    }) // 8
  }
  return { tick, settle: () => Promise.all([notingEnds, updating, draining, measuring]) }
}

async function learnEnds(deps: WatchDeps, assigned: TopicPartition[], stored: Stored): Promise<void> {
  const isStored = (of: TopicPartition) => stored.all.has(partitionKey(of))
  deps.partitioner.learn(await noteEnds(deps, { assigned, isStored, atMs: stored.nowMs }))
}

/** Publishes what is pending and what Redis lacks; many lost documents go to the backlog. */
async function publish(deps: WatchDeps, stored: StoredOffset[]): Promise<void> {
  const { publisher, logger } = deps
  await publisher.flush()
  const settled = stored.filter(of => !isHeldBack(deps, of))
  const healed = await Promise.all(settled.map(of => publisher.heal(of, of.revision)))
  const partitions = healed.filter(Boolean).length
  if (partitions === 0) return
  logger.info({ partitions }, 'Redis lacks documents; publishing them again')
  await publisher.flush()
}
