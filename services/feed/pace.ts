import { setTimeout as sleep } from 'node:timers/promises'
import type { FeedRecord } from './record.ts'

/**
 * How fast records are sent: as fast as the producer takes them; N orders per second of wall-clock time, counted as
 * records of the orders topic; or by their own time, `factor` times as fast as the wall clock. A gap longer than
 * `longestGapMs` of own time (the hours between two evenings) is skipped, and none takes longer than `longestWaitMs` of
 * the wall clock.
 */
export type Pace =
  | { kind: 'unpaced' }
  | { kind: 'rate'; ordersPerSecond: number }
  | { kind: 'speed'; factor: number; longestGapMs?: number; longestWaitMs?: number }

/** `now` counts milliseconds from any fixed time; `sleep` ends early, without an error, if the signal is aborted. */
export type Clock = { now: () => number; sleep: (ms: number, signal: AbortSignal) => Promise<void> }

export const wallClock: Clock = {
  now: () => performance.now(),
  sleep: async (ms, signal) => {
    // A timer takes at most 2^31 ms; a longer sleep ends early and is repeated.
    await sleep(Math.min(ms, 2_000_000_000), undefined, { signal }).catch(() => undefined)
  },
}

/** For each record in turn: when it is due, in milliseconds of wall-clock time since the feed began. */
export function timetable(pace: Pace): (record: FeedRecord) => number {
  switch (pace.kind) {
    case 'unpaced':
      return () => 0
    case 'rate':
      return byCount(pace.ordersPerSecond)
    case 'speed':
      return byOwnTime(pace)
    default:
      return pace satisfies never
  }
}

/** Records between two orders go out with the later one, as in the file. */
function byCount(ordersPerSecond: number) {
  let orders = 0
  return ({ topic }: FeedRecord) => {
    const dueMs = (orders * 1000) / ordersPerSecond
    if (topic === 'orders') orders++
    return dueMs
  }
}

/** Own time never runs backwards: a record that is older than the one before it goes out with it. */
function byOwnTime({
  factor,
  longestGapMs = Number.POSITIVE_INFINITY,
  longestWaitMs = Number.POSITIVE_INFINITY,
}: Extract<Pace, { kind: 'speed' }>) {
  let latestMs: number | undefined
  let dueMs = 0
  return ({ atMs }: FeedRecord) => {
    if (atMs === null) return dueMs
    latestMs ??= atMs
    const gapMs = Math.max(0, atMs - latestMs)
    latestMs += gapMs
    if (gapMs <= longestGapMs) dueMs += Math.min(gapMs / factor, longestWaitMs)
    return dueMs
  }
}
