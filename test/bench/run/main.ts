import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { localFolder } from '#infra/folder.ts'
import { listenForInterruption } from '#infra/interruption.ts'
import { reportOf, textOf, writeReport } from '../report/report.ts'
import { rows } from '../rows/index.ts'
import { type Bench, openBench } from './bench.ts'
import { help, type Options, readOptions } from './options.ts'
import type { Result, Row } from './row.ts'
import { needWrk } from './wrk.ts'

const log = (line: string) => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)

/** Runs the bench with command line arguments and returns the exit code. */
async function main(args: string[]): Promise<number> {
  let options: ReturnType<typeof readOptions>
  let wanted: Row[]
  try {
    options = readOptions(args)
    wanted = typeof options === 'string' ? [] : rowsOf(options)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${help}`)
    return 2
  }
  if (options === 'help') process.stdout.write(help)
  if (options === 'list') for (const { name, about } of rows) process.stdout.write(`${name}: ${about}\n`)
  return typeof options === 'string' ? 0 : measure(options, wanted)
}

function rowsOf({ only }: Options): Row[] {
  const unknown = only.filter(name => !rows.some(row => row.name === name))
  if (unknown.length > 0) throw new Error(`--only knows no row ${unknown.join(', ')}`)
  return only.length === 0
    ? rows.filter(({ onlyIfNamed }) => !onlyIfNamed)
    : rows.filter(({ name }) => only.includes(name))
}

/** A row that fails does not stop the others, but makes the exit code 1. */
async function measure(options: Options, wanted: Row[]): Promise<number> {
  const { signal, exitCode } = listenForInterruption()
  const folder = localFolder('bench')
  const run = join(folder, `run-${process.pid}`)
  mkdirSync(run, { recursive: true })
  let bench: Bench | undefined
  const results: Result[] = []
  const failed: string[] = []
  try {
    if (wanted.some(row => row.needsWrk)) await needWrk()
    bench = await openBench({ options, folder: run, log, signal })
    for (const row of wanted) {
      try {
        results.push(await unlessAborted(bench.signal, row.run(bench)))
      } catch (error) {
        bench.signal.throwIfAborted()
        failed.push(row.name)
        log(`${row.name} failed: ${error instanceof Error ? error.stack : error}`)
      }
      if (!isNeeded(wanted, row)) await row.shares?.release()
    }
  } catch (error) {
    log(signal.aborted ? 'interrupted' : `stopped: ${error instanceof Error ? error.stack : error}`)
    return exitCode() || 1
  } finally {
    await bench?.stop()
    if (failed.length === 0) rmSync(run, { recursive: true, force: true })
  }
  const report = reportOf(options, results, failed)
  process.stdout.write(`${textOf(report)}\n`)
  for (const file of writeReport(folder, report)) log(`written: ${file}`)
  if (failed.length > 0) log(`failed: ${failed.join(', ')}; the logs are in ${run}`)
  return failed.length === 0 ? 0 : 1
}

/** Whether a row after this one shares its running Tally. */
function isNeeded(wanted: Row[], row: Row): boolean {
  return wanted.slice(wanted.indexOf(row) + 1).some(({ shares }) => shares === row.shares)
}

function unlessAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  const aborted = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => aborted.reject(signal.reason))
  if (signal.aborted) aborted.reject(signal.reason)
  return Promise.race([work, aborted.promise])
}

process.exit(await main(process.argv.slice(2)))
