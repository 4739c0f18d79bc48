import type { Outcome, Round } from './outcome.ts'

/** The closing table: fault, how often, records applied, wrong answers, longest recovery. */
export function tableOf({ rounds, ...outcome }: Outcome): string {
  const rows = [...Map.groupBy(rounds, ({ fault }) => fault)].map(([fault, own]) => rowOf(fault, own))
  const head = ['fault', 'times', 'records', 'wrong', 'longest recovery (s)', 'median (s)', 'a round (s)']
  const lines = [head, ...rows.sort(), rowOf('all', rounds)]
  const widths = head.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  const print = (line: string[]) =>
    `| ${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  const [first = [], ...others] = lines
  return [
    print(first),
    rule,
    ...others.map(print),
    '',
    `seed ${outcome.seed}: ${rounds.length} faults, ${outcome.records} records (${outcome.badRecords} bad), ${outcome.wrongs.length} wrong`,
    `compared with the count: ${total(rounds, 'compared')} answers; polled meanwhile: ${outcome.answers} answers, of these ${outcome.unavailable} 503 where the table allows it; ` +
      `${outcome.wholeBatches} groups of views compared for half a batch`,
    `checked against their asOf: ${outcome.claims} answers by their totals, ${outcome.wholeClaims} whole ones; ${outcome.etags} ETags, ${outcome.unchanged} answers of 304`,
    `views that were older in another process than in the one asked before: ${outcome.backAcrossProcesses}`,
  ].join('\n')
}

function rowOf(fault: string, own: Round[]): string[] {
  const recoveries = own
    .map(({ recoveryMs }) => recoveryMs ?? Number.POSITIVE_INFINITY)
    .sort((one, other) => one - other)
  const seconds = (ms = 0) => (ms / 1000).toFixed(1)
  return [
    fault,
    String(own.length),
    String(total(own, 'records')),
    String(total(own, 'wrong')),
    seconds(recoveries.at(-1)),
    seconds(recoveries[Math.floor(recoveries.length / 2)]),
    seconds(total(own, 'tookMs') / own.length),
  ]
}

const total = (rounds: Round[], name: 'records' | 'wrong' | 'compared' | 'tookMs') =>
  rounds.reduce((sum, round) => sum + round[name], 0)
