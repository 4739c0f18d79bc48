import { describeTopics, endOffsets, type KafkaConnection } from '@tally/kafka'
import { type PartitionAsOf, type Postgres, readOffsets, type StoredOffset } from '@tally/read-models'
import { type Logger, partOf } from '@tally/runtime'
import type { AsOf } from './asOf.ts'
import type { ProjectorMetrics } from './metrics.ts'
import type { Partition, Publisher } from './publisher.ts'

const tickMs = 400

export type WatchParts = {
  kafka: KafkaConnection
  db: Postgres
  publisher: Publisher
  asOf: AsOf
  topics: string[]
  assigned: () => Partition[]
  metrics: ProjectorMetrics
  logger: Logger
}

/**
 * Beside the batches, two to three times a second: notes the ends of the partitions, raises `asOf` in Postgres,
 * publishes what is left over, heals what Redis lost, and then raises `asOf` in Redis. A part that does not
 * answer ends the tick there; the next one begins anew. Returns what stops it.
 */
export function watch(parts: WatchParts): () => Promise<void> {
  let stopped = false
  let wake = () => {}
  const done = (async () => {
    while (!stopped) {
      await tick(parts)
      if (stopped) return
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, tickMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  })()
  return () => {
    stopped = true
    wake()
    return done
  }
}

async function tick({
  kafka,
  db,
  publisher,
  asOf,
  topics,
  assigned,
  metrics,
  logger,
}: WatchParts): Promise<void> {
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      const part = partOf(error)
      metrics.failures.inc({ part })
      logger.debug({ err: error, part }, 'a part does not answer; trying again')
      return false
    }
  }
  const partitions = assigned()
  if (partitions.length === 0) return

  const stored = new Map<string, StoredOffset>()
  const isPostgresUp = await attempt(async () => {
    for (const row of await readOffsets(db, topics)) stored.set(`${row.topic}:${row.partition}`, row)
  })
  if (!isPostgresUp) return
  const known = partitions.flatMap(({ topic, partition }) => stored.get(`${topic}:${partition}`) ?? [])

  // With Kafka down there are no new marks, but Redis is still healed.
  await attempt(async () => {
    const atMs = Date.now()
    const counts = await describeTopics(kafka, topics)
    const ends = await endOffsets(kafka, topics)
    // A partition that was added and that nobody reads yet may hold records of any event: asOf stands still.
    const isAllRead = [...counts].every(([topic, count]) =>
      [...Array(count).keys()].every(partition => stored.has(`${topic}:${partition}`)),
    )
    for (const of of partitions) {
      const end = ends.get(of.topic)?.get(of.partition)?.end
      if (end === undefined) continue
      if (isAllRead) asOf.mark({ ...of, end, atMs })
      metrics.lag.set(
        { topic: of.topic, partition: String(of.partition) },
        Math.max(0, end - (asOf.appliedOf(of) ?? 0)),
      )
    }
  })

  const reached = asOf.reached()
  let raised: PartitionAsOf[] = []
  await attempt(async () => {
    raised = await asOf.storeInPostgres(reached)
  })
  for (const { topic, partition, atMs } of reached) {
    metrics.freshness.set({ topic, partition: String(partition) }, (Date.now() - atMs) / 1000)
  }

  await attempt(async () => {
    await publisher.flush()
    const settled = known.filter(of => !publisher.holdsBack(of, of.revision))
    const healed = await Promise.all(settled.map(of => publisher.heal(of, of.revision)))
    if (healed.includes(true)) {
      logger.info(
        { partitions: healed.filter(Boolean).length },
        'Redis lacks documents; publishing them again',
      )
      await publisher.flush()
    }
    const whole = raised.filter(of => !publisher.holdsBack(of, Number.POSITIVE_INFINITY))
    const hasAdded = [...stored.values()].some(({ isAdded }) => isAdded)
    await asOf.storeInRedis(await asOf.sayable(known, [...settled, ...whole], hasAdded))
  })
}
