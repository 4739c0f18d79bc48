import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { listenForInterruption } from '../../infra/local/interruption.ts'
import { faults } from './faults/index.ts'
import { runFaults } from './rounds.ts'
import { tableOf } from './table.ts'

const help = `npm run test:chaos [-- options]
  Runs Tally on servers of its own under a seeded load, breaks one thing after the other at random moments, and compares
  all answers with a brute-force count after each. Ends with a table; exit 1 where anything was wrong.

  --seed N      repeats the order and the kinds of faults, their moments and the load of another run
  --faults N    how many faults (200)
  --rate N      records a second (400)
  --only TEXT   only kinds of fault whose name holds this text
  --list        names the kinds and ends
`

/** Runs the fault tests as the command line says and returns the exit code. */
export async function main(args: string[]): Promise<number> {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const options = { seed: text, faults: text, rate: text, only: text, list: flag, help: flag }
  let values: ReturnType<typeof parseArgs<{ options: typeof options }>>['values']
  try {
    values = parseArgs({ args, options }).values
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${help}`)
    return 2
  }
  const numbers = [values.seed, values.faults, values.rate].filter(value => value !== undefined)
  if (values.help || values.list || !numbers.every(value => /^[1-9]\d{0,8}$/.test(value))) {
    const isAsked = values.help || values.list
    const names = faults.map(({ name }) => `${name}\n`).join('')
    process[isAsked ? 'stdout' : 'stderr'].write(values.list ? names : help)
    return isAsked ? 0 : 2
  }
  const seed = Number(values.seed ?? 1 + Math.floor(Math.random() * 999_999))
  const log = (line: string) =>
    void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
  log(`seed ${seed} (again with --seed ${seed})`)

  const { signal, exitCode } = listenForInterruption()
  const folder = join(import.meta.dirname, '../../.local/chaos')
  const run = join(folder, `run-${process.pid}`)
  mkdirSync(run, { recursive: true })
  try {
    const only = values.only?.toLowerCase() ?? ''
    const outcome = await runFaults({
      seed,
      count: Number(values.faults ?? 200),
      rate: Number(values.rate ?? 400),
      only: ({ name }) => name.toLowerCase().includes(only),
      folder: run,
      log,
      signal,
    })
    writeFileSync(join(folder, `seed-${seed}.json`), `${JSON.stringify(outcome, undefined, 2)}\n`)
    process.stdout.write(`${tableOf(outcome)}\n`)
    if (outcome.wrongs.length > 0) return 1
    rmSync(run, { recursive: true, force: true })
    return 0
  } catch (error) {
    log(signal.aborted ? 'interrupted' : `stopped: ${error instanceof Error ? error.stack : error}`)
    return exitCode() || 1
  }
}
