import { type EpochMs, parseTimestamp } from '@tally/contract'
import { UsageError } from '../../failure.ts'

/** What `--older-than` takes: a duration, as Postgres reads an interval, or the start of a day in UTC. */
type Age = { interval: string } | { before: EpochMs }

const units = { d: 'days', w: 'weeks', mo: 'months', y: 'years' } as const

export function ageOf(text: string, nowMs: number): Age {
  const [, count, unit] = /^([1-9]\d{0,2})(d|w|mo|y)$/.exec(text) ?? []
  if (count !== undefined) return { interval: `${count} ${units[unit as keyof typeof units]}` }
  const before = parseTimestamp(`${text}T00:00:00Z`)
  if (before !== undefined && before <= nowMs) return { before }
  throw new UsageError(
    `--older-than takes a duration such as 90d, 12w, 18mo or 2y, or a past date such as 2024-12-31, got ${JSON.stringify(text)}`,
  )
}
