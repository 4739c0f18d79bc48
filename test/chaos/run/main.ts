import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { localFolder } from '#infra/folder.ts'
import { listenForInterruption } from '#infra/interruption.ts'
import { clusterFaults } from '../faults/cluster.ts'
import { faults } from '../faults/index.ts'
import { startClusterSystem } from '../system/clusterSystem.ts'
import { startLinkedSystem } from '../system/linkedSystem.ts'
import type { System, SystemWanted } from '../system/system.ts'
import { type Outcome, sumOutcomes } from './outcome.ts'
import { runFaults } from './rounds.ts'
import type { RunWanted } from './run.ts'
import { tableOf } from './table.ts'

const help = `npm run test:chaos [-- options]
  Runs Tally on servers of its own under a seeded load, breaks one thing after the other at random moments, and compares
  all answers with a brute-force count after each. Ends with a table; exit 1 where anything was wrong.

  --seed N      repeats the order and the kinds of faults, their moments and the load of another run
  --faults N    how many faults (200)
  --rate N      records a second (400)
  --pieces N    shares the faults among N runs side by side, each with servers of its own (1)
  --cluster     on the servers of several machines, whose loss is the fault: three Kafka brokers, Redis Cluster with
                replicas, Postgres with a standby, PgBouncer
  --sentinel    the same with Redis and Sentinel
  --only TEXT   only kinds of fault whose name holds this text; several with commas
  --list        names the kinds and ends
`

const folder = localFolder('chaos')
const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const options = {
  seed: text,
  faults: text,
  rate: text,
  pieces: text,
  only: text,
  cluster: flag,
  sentinel: flag,
  list: flag,
  help: flag,
}
type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']

/** Runs the fault tests with command line arguments and returns the exit code. */
async function main(args: string[]): Promise<number> {
  let values: Values
  try {
    values = parseArgs({ args, options }).values
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${help}`)
    return 2
  }
  const numbers = [values.seed, values.faults, values.rate, values.pieces].filter(
    value => value !== undefined,
  )
  if (values.help || values.list || !numbers.every(value => /^[1-9]\d{0,8}$/.test(value))) {
    const isAsked = values.help || values.list
    const all: { name: string }[] = isCluster(values) ? clusterFaults : faults
    const names = kindsOf(values, all)
      .map(({ name }) => `${name}\n`)
      .join('')
    process[isAsked ? 'stdout' : 'stderr'].write(values.list ? names : help)
    return isAsked ? 0 : 2
  }
  const seed = Number(values.seed ?? 1 + Math.floor(Math.random() * 999_999))
  const log = (line: string) =>
    void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
  log(`seed ${seed} (again with --seed ${seed})`)

  const { signal, exitCode } = listenForInterruption()
  const runFolder = join(folder, `run-${process.pid}`)
  try {
    const numbers = { count: Number(values.faults ?? 200), rate: Number(values.rate ?? 400) }
    const wanted = { seed, ...numbers, runFolder, pieces: Number(values.pieces ?? 1), log, signal }
    const outcome = sumOutcomes(seed, await runWanted(values, wanted))
    writeFileSync(join(folder, `seed-${seed}.json`), `${JSON.stringify(outcome, undefined, 2)}\n`)
    process.stdout.write(`${tableOf(outcome)}\n`)
    if (outcome.wrongs.length > 0) return 1
    rmSync(runFolder, { recursive: true, force: true })
    return 0
  } catch (error) {
    log(signal.aborted ? 'interrupted' : `stopped: ${error instanceof Error ? error.stack : error}`)
    return exitCode() || 1
  }
}

const isCluster = ({ cluster = false, sentinel = false }: Values) => cluster || sentinel

function kindsOf<Kind extends { name: string }>({ only = '' }: Values, all: Kind[]): Kind[] {
  const texts = only.toLowerCase().split(',')
  return all.filter(({ name }) => texts.some(text => name.toLowerCase().includes(text)))
}

type Pieces = { runFolder: string; pieces: number }

function runWanted(
  values: Values,
  wanted: Omit<RunWanted<System>, 'folder' | 'kinds' | 'start'> & Pieces,
): Promise<Outcome[]> {
  if (isCluster(values)) {
    const redis = values.sentinel ? 'sentinel' : 'cluster'
    const start = (options: SystemWanted) => startClusterSystem(redis, options)
    return runPieces({ ...wanted, start, kinds: kindsOf(values, clusterFaults) })
  }
  return runPieces({ ...wanted, start: startLinkedSystem, kinds: kindsOf(values, faults) })
}

/** Runs the pieces side by side; if one fails, all end. */
async function runPieces<On extends System>({
  runFolder,
  pieces: of,
  ...wanted
}: Omit<RunWanted<On>, 'folder'> & Pieces): Promise<Outcome[]> {
  const failure = new AbortController()
  const signal = AbortSignal.any([failure.signal, ...(wanted.signal ? [wanted.signal] : [])])
  const runs = Array.from({ length: of }, async (_, index) => {
    const piece = { number: index + 1, of }
    const own = of === 1 ? runFolder : join(runFolder, `piece-${piece.number}`)
    mkdirSync(own, { recursive: true })
    const log = of === 1 ? wanted.log : (line: string) => wanted.log(`[${piece.number}] ${line}`)
    return runFaults({ ...wanted, piece, folder: own, log, signal }).catch(error => {
      failure.abort(error)
      throw error
    })
  })
  await Promise.allSettled(runs)
  return Promise.all(runs)
}

process.exit(await main(process.argv.slice(2)))
