import { setTimeout as sleep } from 'node:timers/promises'
import type { TopicPartition } from '@tally/kafka'
import type { StoredOffset } from '@tally/offsets'
import { answers } from '@tally/platform'
import type { RaisedAsOf } from '@tally/publication'
import { createAttempts } from './attempts.ts'
import {
  findLost,
  hasAdded,
  isHeldBack,
  raiseInPostgres,
  raiseInRedis,
  readOrRestore,
  recordEnds,
  type Stored,
  type WatchDeps,
} from './steps.ts'

const tickMs = 400
/**
 * The sleeps after `soon`: the first tick records the ends of partitions that were just assigned, a later one finds
 * them reached. With the usual sleeps, their watermarks would stand still for up to 0.8 s longer.
 */
const soonMs = [50, 50]

export type Watch = {
  /** Ticks at once, or after the tick that runs, and twice more shortly afterwards. */
  soon(): void
  stop(): Promise<void>
}

/**
 * Keeps `asOf` and Redis up to date: ticks (see createTick) and then sleeps for 0.4 s, concurrently with the batches,
 * until it is stopped. A part that does not answer delays only its own steps.
 */
export function watch(deps: WatchDeps): Watch {
  const loop = {
    isStopped: false,
    /** Aborting it ends the sleep, or the one after the tick that runs. */
    wake: new AbortController(),
    sleepsMs: [] as number[],
  }
  const { tick, settle } = createTick(deps, () => loop.isStopped)

  const run = async (): Promise<void> => {
    while (!loop.isStopped) {
      loop.wake = new AbortController()
      await tick()
      const { signal } = loop.wake
      if (!signal.aborted)
        await sleep(loop.sleepsMs.shift() ?? tickMs, undefined, { signal }).catch(() => undefined)
    }
  }
  const done = run()

  return {
    soon() {
      loop.sleepsMs = [...soonMs]
      loop.wake.abort()
    },
    async stop() {
      loop.isStopped = true
      loop.wake.abort()
      await done
      await settle()
    },
  }
}

/** Longer than all of it usually takes. */
const waitMs = 100

/** `settle` waits for the work that ticks have started and not awaited. */
type Tick = { tick: () => Promise<void>; settle: () => Promise<unknown> }

/**
 * One tick of the watch. Each step relies on the ones before it:
 *
 * 1. read the stored offsets, at a time of the database's clock. Without them the tick ends here.
 * 2. find commits that Postgres has lost. The applied offsets are copied before 1, so that a batch that commits
 *    meanwhile does not look like a lost one.
 * 3. record the ends of the partitions at the time of 1. Not awaited: while Kafka is down, watermarks stand still, but
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
function createTick(deps: WatchDeps, isStopping: () => boolean): Tick {
  const { progress, publisher, walk, sizes, assigned, refusals } = deps
  const attempt = createAttempts(deps)
  let draining: Promise<boolean> | undefined
  const ends = singleFlight((partitions: TopicPartition[], stored: Stored) =>
    attempt('note ends', () => recordEnds(deps, partitions, stored)),
  )
  const update = singleFlight((partitions: TopicPartition[], stored: Stored, raised: RaisedAsOf) =>
    attempt('update Redis', () =>
      refusals.during(async () => {
        await publish(deps, stored.assigned) // 5
        draining = attempt('drain', () => publisher.drain(isStopping))
        await raiseInRedis(deps, stored, raised) // 6
        await walk.step(partitions) // 7
      }),
    ),
  )
  const measurement = singleFlight((partitions: TopicPartition[]) =>
    attempt('measure', () => sizes.step(partitions)),
  )

  const tick = async (): Promise<void> => {
    const partitions = assigned()
    if (partitions.length === 0) return
    const before = progress.appliedNow()
    const stored = await readOrRestore(deps, attempt, partitions) // 1
    if (stored === undefined) return
    findLost(deps, before, stored.assigned) // 2
    ends.start(partitions, stored) // 3
    const raised = await raiseInPostgres(deps, attempt, stored) // 4
    const isDone = await answers(waitMs, () => update.start(partitions, stored, raised))
    if (!isDone && !hasAdded(stored.all))
      await attempt('raise others', () => raiseInRedis(deps, stored, raised))
    measurement.start(partitions) // 8
  }
  const settle = () => Promise.all([ends.settled(), update.settled(), draining, measurement.settled()])
  return { tick, settle }
}

/** Work that runs once at a time: while a run is in progress, `start` returns that one. */
function singleFlight<Of extends unknown[]>(work: (...of: Of) => Promise<boolean>) {
  let running: Promise<boolean> | undefined
  return {
    start(...of: Of): Promise<boolean> {
      running ??= work(...of).finally(() => {
        running = undefined
      })
      return running
    },
    settled: () => running,
  }
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
