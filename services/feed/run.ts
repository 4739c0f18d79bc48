import type { FeedOptions } from './options.ts'
import { type Clock, type Pace, timetable } from './pace.ts'
import {
  type FeedRecord,
  type FeedSource,
  type FeedTopic,
  feedTopics,
  type Position,
  type TopicRecord,
} from './record.ts'
import { openReplay } from './replay.ts'
import { eveningSpan, simulate, simulationShare } from './simulate/simulate.ts'

/** What a feed writes to. `send` resolves when Kafka has the records, in order; `keep` gets the last position. */
export type FeedOutlets = {
  send: (records: TopicRecord[]) => Promise<void>
  keep?: (position: Position) => void
  clock: Clock
  /** `show`: the part of the source that is sent, 0 to 1, and that in words; `close`: the last sentence. */
  progress: { show: (share: number, words: string) => void; close: (sentence: string) => void }
  signal: AbortSignal
}

/** Records sent to each topic, and whether the signal ended the feed before its source did. */
export type FeedSummary = { sent: Record<FeedTopic, number>; elapsedMs: number; isStopped: boolean }

/** Large enough to keep a producer busy, small enough to stop within one of them. */
const batchSize = 1000
/** Records that are due within this time are sent together. */
const shortestSleepMs = 5
/** A longer gap without records is skipped: longer than any lull of an evening, shorter than a day. */
const longestLullMs = 6 * 3_600_000
/** Of an evening at its average pace, the part outside of its thin hours, which are sent faster (measured). */
const busyShare = 0.65

/**
 * Sends a file or simulated evenings to Kafka (docs/reference.md, Commands) and returns how many records of each topic
 * it sent. After the signal it finishes the batch in flight and returns. Throws an error that says how many records
 * were sent before it if a line is invalid or a send fails.
 */
export async function runFeed(options: FeedOptions, outlets: FeedOutlets): Promise<FeedSummary> {
  const { clock, progress, signal } = outlets
  const sent: Record<FeedTopic, number> = { organizations: 0, events: 0, orders: 0, refunds: 0 }
  const startedMs = clock.now()
  const summary = (isStopped: boolean) => ({ sent, elapsedMs: clock.now() - startedMs, isStopped })
  try {
    const source = await openSource(options)
    await sendAll(options, source, outlets, sent, startedMs)
  } catch (cause) {
    progress.close(sentenceOf(summary(true), 'Failed'))
    const { message } = cause as Error
    throw new Error(`${message} (${sumOf(sent)} records were sent before that)`, { cause })
  }
  const result = summary(signal.aborted)
  progress.close(sentenceOf(result, result.isStopped ? 'Stopped' : 'Done'))
  return result
}

async function sendAll(
  options: FeedOptions,
  source: FeedSource,
  { send, keep, clock, progress, signal }: FeedOutlets,
  sent: Record<FeedTopic, number>,
  startedMs: number,
) {
  const dueOf = timetable(wallPace(options))
  let batch: FeedRecord[] = []
  const flush = async () => {
    const records = batch
    batch = []
    if (records.length === 0 || signal.aborted) return
    await send(
      records.map(({ topic, key, value }) => ({ topic: `${options.topicPrefix}.${topic}`, key, value })),
    )
    for (const { topic } of records) sent[topic]++
    const position = records.at(-1)?.position
    if (position !== undefined) keep?.(position)
    progress.show(source.share(), `${sumOf(sent).toLocaleString('en-US')} records sent`)
  }
  try {
    for await (const record of source.records) {
      const dueMs = startedMs + dueOf(record)
      if (dueMs > clock.now()) await flush()
      while (dueMs > clock.now() && !signal.aborted) {
        await clock.sleep(Math.max(dueMs - clock.now(), shortestSleepMs), signal)
      }
      if (signal.aborted) return
      batch.push(record)
      if (batch.length >= batchSize) await flush()
    }
  } catch (cause) {
    // Lines before a bad one are sent, so that the count in the error names the last line sent.
    await flush()
    throw cause
  }
  await flush()
}

async function openSource({ source }: FeedOptions): Promise<FeedSource> {
  if (source.kind === 'replay') return openReplay(source.file)
  const { kind: _, ...simulation } = source
  const shareAt = simulationShare(simulation)
  let reachedMs = 0
  function* watched() {
    for (const record of simulate(simulation)) {
      reachedMs = record.atMs ?? reachedMs
      yield record
    }
  }
  return { records: watched(), share: () => shareAt(reachedMs) }
}

/**
 * A simulated crowd has peaks, so its rate is an average over the evening and sets how fast the evening's own time
 * runs. In thin hours and between two evenings it runs faster, so that at least as many records a second are sent: a
 * demonstration that stands still looks broken.
 */
function wallPace({ source, pace }: FeedOptions): Pace {
  if (source.kind === 'replay' || pace.kind === 'unpaced') return pace
  if (pace.kind === 'speed') return { ...pace, longestGapMs: longestLullMs }
  const { fromMs, toMs } = eveningSpan(source)
  const factor = busyShare * ((toMs - fromMs) / 1000) * (pace.ordersPerSecond / source.orders)
  return { kind: 'speed', factor, longestWaitMs: 1000 / pace.ordersPerSecond }
}

function sentenceOf({ sent, elapsedMs }: FeedSummary, how: 'Done' | 'Stopped' | 'Failed'): string {
  const counts = feedTopics.map(topic => `${sent[topic]} ${topic}`).join(', ')
  return `${how}: sent ${counts} in ${(elapsedMs / 1000).toFixed(1)} s.`
}

function sumOf(sent: Record<FeedTopic, number>): number {
  return Object.values(sent).reduce((sum, count) => sum + count, 0)
}
