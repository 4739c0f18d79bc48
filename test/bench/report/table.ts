import type { Goal, Line, Measured } from '../run/row.ts'
import { median, medianRatio } from './figures.ts'

const head = ['row', 'measured', '', 'against', '', 'ratio', 'goal', 'reached']
const toTheRight = new Set([2, 4, 5])

/** The table on stdout, as Markdown: medians of all rounds, the ratio as the median of each round's. */
export function tableOf(lines: Line[]): string {
  const cells = [head, ...lines.map(cellsOf)]
  const widths = head.map((_, column) => Math.max(3, ...cells.map(row => row[column]?.length ?? 0)))
  const print = (row: string[]) =>
    `| ${row.map((cell, column) => (toTheRight.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (toTheRight.has(column) ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`
  const [first = [], ...others] = cells
  return [print(first), rule, ...others.map(print)].join('\n')
}

function cellsOf(line: Line): string[] {
  const { row, ours, against, goal } = line
  const reached = isReached(line)
  return [
    row,
    ours.what,
    printed(ours),
    against?.what ?? '',
    against === undefined ? '' : printed(against),
    against === undefined ? '' : ratioOf(line).toFixed(2),
    goal === undefined ? '' : goalOf(goal, ours),
    reached === undefined ? '' : reached ? 'yes' : 'no',
  ]
}

/** Whether a line's goal is reached; undefined if it has none. */
export function isReached(line: Line): boolean | undefined {
  const { goal, ours } = line
  if (goal === undefined) return undefined
  const value = goal.of === 'ratio' ? ratioOf(line) : median(ours.rounds)
  return goal.bound === 'at least' ? value >= goal.value : value <= goal.value
}

/** Ours as a multiple of the other contender; NaN without one. */
export function ratioOf({ ours, against }: Line): number {
  return against === undefined ? Number.NaN : medianRatio(ours.rounds, against.rounds)
}

function printed({ rounds, unit }: Measured): string {
  const value = median(rounds)
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
  return `${value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`
}

function goalOf({ of, bound, value }: Goal, { unit }: Measured): string {
  return `${bound === 'at least' ? '≥' : '≤'} ${value}${of === 'value' ? ` ${unit}` : ''}`
}
