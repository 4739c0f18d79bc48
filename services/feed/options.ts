import { date as calendarDate } from '@tally/contract'
import { feedDefaults, type RawFeedOptions } from './defaults.ts'
import type { Pace } from './pace.ts'
import type { Simulation } from './simulate/simulate.ts'

/** Where the records of a feed come from, how fast they are sent, and to which topics. */
export type FeedOptions = {
  topicPrefix: string
  source: { kind: 'replay'; file: string } | ({ kind: 'simulation' } & Simulation)
  pace: Pace
}

/** Wrong usage (exit code 2): the message is a sentence that names the option and what it takes. */
export class FeedOptionError extends Error {
  override readonly name = 'FeedOptionError'
}

/** Orders per second of wall-clock time; above it Kafka sets the pace anyway, as with 0. */
const maxRate = 1_000_000
const maxSpeed = 1_000_000_000
/** An endless feed continues for years from this date, and must stay far from the year 9999. */
const latestDate = '2999-12-31'

/** Checks the options of `tally feed`; throws a FeedOptionError for the first that is wrong. */
export function parseFeedOptions(raw: RawFeedOptions): FeedOptions {
  const rate = numberOf('--rate', raw.rate, 0, maxRate)
  const speed = numberOf('--speed', raw.speed, 0, maxSpeed)
  if (speed === 0)
    throw new FeedOptionError('--speed takes a number above 0, got "0"; to send without pauses use --rate 0')
  if (speed !== undefined && rate !== undefined && rate > 0) {
    throw new FeedOptionError('--rate and --speed both set the pace: use only one of them')
  }
  return raw.data === undefined ? simulationOf(raw, rate, speed) : replayOf(raw, raw.data, rate, speed)
}

function simulationOf(raw: RawFeedOptions, rate: number | undefined, speed: number | undefined): FeedOptions {
  const simulation = {
    seed: wholeOf('--seed', raw.seed, 0, Number.MAX_SAFE_INTEGER) ?? feedDefaults.seed,
    orders: wholeOf('--orders', raw.orders, 1, 10_000_000) ?? feedDefaults.orders,
    evenings: wholeOf('--evenings', raw.evenings, 0, 100_000) ?? feedDefaults.evenings,
    date: dateOf(raw.date) ?? feedDefaults.date,
  }
  return {
    topicPrefix: raw.topicPrefix,
    source: { kind: 'simulation', ...simulation },
    pace: paceOf(speed === undefined ? (rate ?? feedDefaults.rate) : 0, speed),
  }
}

function replayOf(
  raw: RawFeedOptions,
  file: string,
  rate: number | undefined,
  speed: number | undefined,
): FeedOptions {
  if (file === '')
    throw new FeedOptionError('--data takes the path of a file of JSON lines, got an empty text')
  for (const name of ['seed', 'orders', 'evenings', 'date', 'resume'] as const) {
    if (raw[name] === undefined) continue
    throw new FeedOptionError(`--${name} is for a simulated evening: leave it out, or leave out --data`)
  }
  return { topicPrefix: raw.topicPrefix, source: { kind: 'replay', file }, pace: paceOf(rate ?? 0, speed) }
}

function paceOf(rate: number, speed: number | undefined): Pace {
  if (speed !== undefined) return { kind: 'speed', factor: speed }
  return rate === 0 ? { kind: 'unpaced' } : { kind: 'rate', ordersPerSecond: rate }
}

const numberOf = rangeOf('a number', /^\d+(\.\d+)?$/)
const wholeOf = rangeOf('a whole number', /^\d+$/)

function rangeOf(kind: string, shape: RegExp) {
  return (
    option: string,
    raw: string | number | undefined,
    least: number,
    most: number,
  ): number | undefined => {
    if (raw === undefined) return undefined
    const value = shape.test(String(raw)) ? Number(raw) : Number.NaN
    if (value >= least && value <= most) return value
    throw new FeedOptionError(`${option} takes ${kind} from ${least} to ${most}, got "${raw}"`)
  }
}

function dateOf(raw: string | undefined): string | undefined {
  if (raw === undefined) return undefined
  if (calendarDate.safeParse(raw).success && raw >= '1971-01-01' && raw <= latestDate) return raw
  throw new FeedOptionError(`--date takes a date YYYY-MM-DD from 1971-01-01 to ${latestDate}, got "${raw}"`)
}
