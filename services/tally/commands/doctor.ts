import type { examine } from '@tally/repair'
import type { Command } from 'commander'
import { print, remark } from '../output.ts'

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check settings, Kafka, Postgres, Redis, clocks and certificates; one line per check')
    .option('--json', 'print one JSON object per line')
    .action(async ({ json }: { json?: true }) => {
      const { examine } = await import('@tally/repair')
      const lines = await examine(process.env)
      for (const line of lines) print(json === true ? JSON.stringify(line) : lineOf(line))
      const count = (state: string): number => lines.filter(line => line.state === state).length
      remark(
        `doctor: ${lines.length} checks: ${count('ok')} ok, ${count('warn')} warn, ${count('fail')} fail, ${count('skip')} skipped`,
      )
      // Not left to the event loop: a client of a part that hangs would keep the process for long.
      process.exit(count('fail') > 0 ? 1 : 0)
    })
}

type Line = Awaited<ReturnType<typeof examine>>[number]

const lineOf = ({ state, check, found, mend }: Line): string =>
  `${state.padEnd(4)}  ${check.padEnd(20)}  ${found}${mend === undefined ? '' : `: ${mend}`}`
