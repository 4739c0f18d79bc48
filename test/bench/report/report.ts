import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Options } from '../run/options.ts'
import type { Line, Result } from '../run/row.ts'
import { median } from './figures.ts'
import { isReached, ratioOf, tableOf } from './table.ts'

const enoughRounds = 5

/** What a run found, and how it was made. */
export type Report = {
  at: Date
  options: Options
  lines: Line[]
  notes: string[]
  /** Names of rows that have no figures because something went wrong. */
  failed: string[]
}

/** Puts the results of all rows together. */
export function reportOf(options: Options, results: Result[], failed: string[]): Report {
  return {
    at: new Date(),
    options,
    failed,
    lines: results.flatMap(({ lines }) => lines),
    notes: results.flatMap(({ notes = [] }) => notes),
  }
}

/** The text for stdout: the table, and how to read it. */
export function textOf({ options, lines, notes, failed }: Report): string {
  const { rounds, orders, seconds, seed } = options
  const few =
    rounds < enoughRounds
      ? [`ONLY ${rounds} of ${enoughRounds} ROUNDS: for trying out, not to be quoted.`, '']
      : []
  return [
    ...few,
    tableOf(lines),
    '',
    `${machine()}. Median of ${rounds} rounds (A B A B) after a warm-up; a ratio is the median of each round's.`,
    `Data: ${orders.toLocaleString('en')} orders (seed ${seed}), uncompressed in Kafka. Loads: ${seconds} s by one thread of wrk, over 64 connections unless a row says otherwise.`,
    'The load, the servers and what is measured share the cores, for A and B alike. Figures are of right answers only.',
    'Rates begin when a process has its partitions; what it takes to warm a new process up is in them, for A and B alike.',
    ...notes,
    ...failed.map(row => `FAILED: ${row} has no figures; the log on stderr says why.`),
    ...few.slice(0, 1),
    '',
  ].join('\n')
}

/** The same for programs, with the value of every round. */
function jsonOf({ at, options, lines, notes, failed }: Report): string {
  const figures = lines.map(line => ({
    ...line,
    median: median(line.ours.rounds),
    ...(line.against && { againstMedian: median(line.against.rounds), ratio: ratioOf(line) }),
    ...(line.goal && { reached: isReached(line) }),
  }))
  const enough = options.rounds >= enoughRounds
  const whole = {
    at: at.toISOString(),
    machine: machine(),
    enoughRounds: enough,
    options,
    figures,
    notes,
    failed,
  }
  return `${JSON.stringify(whole, undefined, 2)}\n`
}

/** Writes the report as JSON under the time of the run and as `latest`; returns the files' paths. */
export function writeReport(folder: string, report: Report): string[] {
  mkdirSync(folder, { recursive: true })
  const stamp = report.at.toISOString().slice(0, 19).replaceAll(':', '-')
  return [stamp, 'latest'].map(name => {
    const file = join(folder, `${name}.json`)
    writeFileSync(file, jsonOf(report))
    return file
  })
}

function machine(): string {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${memory} GiB, ${process.platform}, Node ${process.versions.node}`
}
