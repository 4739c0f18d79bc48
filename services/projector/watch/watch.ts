import { type KafkaConnection, partitionKey, type TopicPartition } from '@tally/kafka'
import {
  ensureOffsets,
  openEpoch,
  type RaisedAsOf,
  readStored,
  type Seen,
  type StoredOffset,
} from '@tally/read-models'
import { isTransient, type Logger, partOf, reasonOf } from '@tally/runtime'
import type { Postgres } from '@tally/storage'
import type { ProjectorMetrics } from '../metrics.ts'
import type { Publisher } from '../publish/publisher.ts'
import type { AsOf } from './asOf.ts'
import { noteEnds } from './ends.ts'
import type { Refusals } from './refusals.ts'
import type { Walk } from './walk.ts'

const tickMs = 400

export type Watch = {
  /** Ticks at once, or after the tick that runs. */
  soon(): void
  stop(): Promise<void>
}

export type WatchDeps = {
  kafka: KafkaConnection
  db: Postgres
  publisher: Publisher
  asOf: AsOf
  seen: Seen
  walk: Walk
  topics: string[]
  assigned: () => TopicPartition[]
  /** See ends.ts. */
  isSound: (of: TopicPartition, log: { topicId?: string }) => boolean
  /** Whether the partition is not read because its log does not fit: `tally offsets` may move its offset back. */
  isHeld: (of: TopicPartition) => boolean
  /** Called with how many partitions each topic has. */
  learn: (counts: ReadonlyMap<string, number>) => void
  /** Reads a partition again from an offset before the applied one. */
  seek: (of: TopicPartition, offset: number) => void
  refusals: Pick<Refusals, 'note'>
  metrics: ProjectorMetrics
  logger: Logger
}

/**
 * Every 0.4 s, concurrently with the batches: finds commits that Postgres has lost, notes the ends of the partitions,
 * raises `asOf` in Postgres, publishes what is still pending, restores what Redis lost, raises `asOf` in Redis, and
 * takes a step of the walk. A part that does not answer delays only its own steps; the next tick tries again. Returns a
 * function that stops it.
 */
export function watch(deps: WatchDeps): Watch {
  let stopped = false
  let isDue = false
  const { tick, settle } = openTick(deps, () => stopped)
  let wake = () => {}
  const sleep = () =>
    new Promise<void>(resolve => {
      const timer = setTimeout(resolve, tickMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const done = (async () => {
    while (!stopped) {
      isDue = false
      await tick()
      if (!stopped && !isDue) await sleep()
    }
  })()
  return {
    soon() {
      isDue = true
      wake()
    },
    async stop() {
      stopped = true
      wake()
      await done
      await settle()
    },
  }
}

/** What Postgres has stored at `nowMs` of its clock; `known` are the rows of the assigned partitions. */
type Read = {
  nowMs: number
  epoch: number | null
  stored: Map<string, StoredOffset>
  known: StoredOffset[]
}

function openTick(
  deps: WatchDeps,
  isStopping: () => boolean,
): { tick: () => Promise<void>; settle: () => Promise<unknown> } {
  const {
    db,
    publisher,
    asOf,
    seen,
    walk,
    topics,
    assigned,
    isHeld,
    learn,
    seek,
    refusals,
    metrics,
    logger,
  } = deps
  let notingEnds: Promise<boolean> | undefined
  let draining: Promise<boolean> | undefined
  let lastBug: string | undefined

  /** Once for as long as the same error comes back. */
  const logBug = (error: unknown): void => {
    const reason = reasonOf(error)
    if (reason === lastBug) return
    lastBug = reason
    logger.error(
      { err: error },
      'a step of the watch fails, and waiting does not resolve it: asOf may stand still; trying again',
    )
  }

  const attempt = async (
    work: () => Promise<void>,
    hear: (error?: unknown) => void = () => {},
  ): Promise<boolean> => {
    try {
      await work()
      hear()
      return true
    } catch (error) {
      hear(error)
      const part = partOf(error)
      metrics.failures.inc({ part })
      if (isTransient(error)) logger.debug({ err: error, part }, 'a part does not answer; trying again')
      else logBug(error)
      return false
    }
  }

  /** Finds offsets that were applied but are no longer stored: Postgres came back without its last commits. */
  const findLost = (before: ReadonlyMap<string, number>, known: StoredOffset[]): void => {
    for (const { topic, partition, nextOffset, revision } of known) {
      seen.revision = Math.max(seen.revision, revision)
      const applied = before.get(partitionKey({ topic, partition }))
      if (applied === undefined || nextOffset >= applied || isHeld({ topic, partition })) continue
      logger.warn(
        { topic, partition, applied, stored: nextOffset },
        'Postgres has lost commits of this partition; reading it again from the stored offset',
      )
      metrics.lostCommits.inc({ topic })
      asOf.lost({ topic, partition }, nextOffset)
      seek({ topic, partition }, nextOffset)
    }
  }

  /** Inserts rows that a restored database lacks; the next tick then finds their applied records lost. */
  const ensureAll = async (missing: TopicPartition[]): Promise<void> => {
    for (const [topic, ofTopic] of Map.groupBy(missing, ({ topic }) => topic)) {
      const numbers = ofTopic.map(({ partition }) => partition)
      await ensureOffsets(db, topic, numbers)
    }
  }

  /** If Redis is in a later epoch than Postgres (its clock was ahead), opens one above that. */
  const surpass = async (found: Map<number, number>): Promise<void> => {
    if (found.size === 0) return
    seen.epoch = Math.max(seen.epoch, ...found.values())
    await openEpoch(db, seen)
  }

  /** What Postgres has stored; undefined if it does not answer, or if rows must be restored before the next steps. */
  const readStep = async (partitions: TopicPartition[]): Promise<Read | undefined> => {
    const stored = new Map<string, StoredOffset>()
    let at = { nowMs: 0, epoch: null as number | null }
    const isPostgresUp = await attempt(async () => {
      const { offsets, ...rest } = await readStored(db, topics)
      for (const row of offsets) stored.set(partitionKey(row), row)
      at = rest
    })
    if (!isPostgresUp) return undefined
    if (at.epoch === null) {
      // The connection was opened while the server was read-only.
      await attempt(async () => void (await openEpoch(db, seen)))
      return undefined
    }
    seen.epoch = Math.max(seen.epoch, at.epoch)
    const missing = partitions.filter(of => !stored.has(partitionKey(of)))
    if (missing.length > 0) {
      await attempt(() => ensureAll(missing))
      return undefined
    }
    return { ...at, stored, known: partitions.flatMap(of => stored.get(partitionKey(of)) ?? []) }
  }

  /** Not awaited: with Kafka down there are no new marks, but Redis is still healed. */
  const startNotingEnds = (partitions: TopicPartition[], { stored, nowMs }: Read): void => {
    notingEnds ??= attempt(async () => {
      const isStored = (of: TopicPartition) => stored.has(partitionKey(of))
      learn(await noteEnds(deps, { assigned: partitions, isStored, atMs: nowMs }))
    }).finally(() => {
      notingEnds = undefined
    })
  }

  const raiseInPostgres = async ({ nowMs, epoch }: Read): Promise<RaisedAsOf> => {
    const reached = asOf.reached()
    let raised: RaisedAsOf = { nowMs, epoch, raised: [] }
    await attempt(async () => {
      raised = await asOf.storeInPostgres(reached)
    })
    for (const { topic, partition, atMs } of reached) {
      metrics.freshness.set({ topic, partition: String(partition) }, (raised.nowMs - atMs) / 1000)
    }
    return raised
  }

  const isHeldBack = (of: StoredOffset): boolean => publisher.holdsBack(of, of.revision)

  /** Publishes what is pending and what Redis lacks. */
  const publishStep = async (known: StoredOffset[]): Promise<void> => {
    await publisher.flush()
    const healed = await Promise.all(
      known.filter(of => !isHeldBack(of)).map(of => publisher.heal(of, of.revision)),
    )
    if (healed.includes(true)) {
      logger.info(
        { partitions: healed.filter(Boolean).length },
        'Redis lacks documents; publishing them again',
      )
      await publisher.flush()
    }
    // Not awaited: new changes do not wait for the backlog.
    draining = attempt(() => publisher.drain(isStopping))
  }

  const raiseInRedis = async (read: Read, raised: RaisedAsOf): Promise<void> => {
    const settled = read.known.filter(of => !isHeldBack(of))
    const whole = raised.raised.filter(of => !publisher.holdsBack(of, Number.POSITIVE_INFINITY))
    const hasAdded = [...read.stored.values()].some(({ isAdded }) => isAdded)
    const publishable = await asOf.publishable(read.known, [...settled, ...whole], hasAdded)
    // What was read before Postgres came back does not hold for what it has now.
    const { nowMs, epoch } = raised
    if (epoch !== null && epoch === read.epoch)
      await surpass(await asOf.storeInRedis(publishable, { nowMs, epoch }))
  }

  const tick = async (): Promise<void> => {
    const partitions = assigned()
    if (partitions.length === 0) return
    const before = asOf.appliedNow()
    const read = await readStep(partitions)
    if (read === undefined) return
    findLost(before, read.known)
    startNotingEnds(partitions, read)
    const raised = await raiseInPostgres(read)
    await attempt(async () => {
      await publishStep(read.known)
      await raiseInRedis(read, raised)
      await walk.step(partitions)
    }, refusals.note)
  }
  return { tick, settle: () => Promise.all([notingEnds, draining]) }
}
