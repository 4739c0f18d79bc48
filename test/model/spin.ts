import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { tryRun } from '#infra/command.ts'
import { installPackage } from '#infra/install/apt.ts'
import type { Run } from './runs.ts'

const protocol = join(import.meta.dirname, 'protocol.pml')
const execute = promisify(execFile)
const options = { maxBuffer: 64 * 1024 * 1024 }
/** Longer than any execution of these models: a search that reaches this depth is incomplete and fails. */
const maxDepth = 100_000
/** The memory limit of a search, in MB. */
const maxMemory = 12_000
const sampledMinutes = 7

/** Spin's result: how much it searched, and the lines of the execution that breaks a property, if there is one. */
export type Found = {
  states: number
  depth: number
  megabytes: number
  seconds: number
  violated: string | undefined
  trace: string[]
}

/** Makes sure that Spin and a C compiler are there: installs them as root on Debian, else throws what to install. */
export async function requireSpin(log: (line: string) => void = () => {}): Promise<void> {
  const isProgram = async (program: string, ...args: string[]) => (await tryRun(program, args)) !== undefined
  const wanted = [
    { name: 'spin', isThere: () => isProgram('spin', '-V') },
    { name: 'gcc', isThere: () => isProgram('gcc', '--version') },
    { name: 'libc6-dev', isThere: async () => existsSync('/usr/include/stdio.h') },
  ]
  for (const { name, isThere } of wanted) {
    if (await isThere()) continue
    if ((await installPackage(name, { log, signal: undefined })) && (await isThere())) continue
    throw new Error(
      'the protocol model needs the model checker Spin and gcc: install the packages spin, gcc, and libc6-dev',
    )
  }
}

/** Searches all executions of the model with a run's switches; `isShortest` shortens a counterexample: takes longer. */
export async function search(run: Run, { isShortest = false } = {}): Promise<Found> {
  const cwd = await mkdtemp(join(tmpdir(), 'tally-model-'))
  try {
    const switches = run.switches.map(name => `-D${name}`)
    await execute('spin', ['-a', ...switches, protocol], { cwd })
    // Most searches of `npm test`, and all that end at a counterexample, are over before optimized ones are compiled.
    const isLong = run.violates === undefined && (run.isLarge || !run.isShort)
    const kind = [
      '-DSAFETY',
      run.isSampled ? '-DBITSTATE' : '-DCOLLAPSE',
      '-DNOFAIR',
      `-DMEMLIM=${maxMemory}`,
      ...(isShortest ? ['-DREACH'] : []),
    ]
    await execute('gcc', [isLong ? '-O1' : '-O0', '-w', ...kind, '-o', 'pan', 'pan.c'], { cwd })
    // A bit array of 1 GiB, and an end after some minutes, wherever the search is then.
    const size = run.isSampled ? ['-w33', `-Q${sampledMinutes}`] : []
    const args = [`-m${isShortest ? 400 : maxDepth}`, isShortest ? '-i' : '-c1', ...size]
    const began = performance.now()
    const { stdout } = await execute(join(cwd, 'pan'), args, { ...options, cwd })
    const found = { ...read(stdout), seconds: Math.round((performance.now() - began) / 100) / 10 }
    if (found.errors === 0) return { ...found, violated: undefined, trace: [] }
    // Spin writes the trail under the model's name into the working folder.
    const replay = ['-t', '-T', '-k', join(cwd, 'protocol.pml.trail'), ...switches, protocol]
    const replayed = await execute('spin', replay, { ...options, cwd }).catch(error => error)
    const trace = linesOf(String(replayed.stdout))
    const violated = trace.findLast(line => line.startsWith(violatedWord))?.slice(violatedWord.length)
    return { ...found, violated: violated ?? 'no property: the model itself is wrong', trace }
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

const violatedWord = 'VIOLATED: '

/** Reads what pan printed; throws if it did not search all that it was to. */
function read(output: string) {
  if (!/^State-vector/m.test(output) || /out of memory|max search depth too small/.test(output)) {
    if (!/assertion violated/.test(output))
      throw new Error(`the search did not come to its end:\n${output.slice(-2_000)}`)
  }
  const number = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? Number.NaN)
  return {
    errors: number(/errors: (\d+)/),
    states: number(/([\d.e+]+) states, stored/),
    depth: number(/depth reached (\d+)/),
    megabytes: number(/([\d.]+)\s+total actual memory usage/),
  }
}

/** The lines of an execution without successful settlings (the model restores the state after them) and repeats. */
function linesOf(output: string): string[] {
  const lines = output
    .split('\n')
    .map(line => line.trimEnd())
    .filter(line => line !== '')
  const shown: string[] = []
  let settling: string[] | undefined
  for (const line of lines) {
    if (line.startsWith('spin:')) break
    if (line === 'FAULTS STOP') settling = []
    else if (line === 'STATE PUT BACK') settling = undefined
    else (settling ?? shown).push(line)
  }
  const all = settling === undefined ? shown : [...shown, 'FAULTS STOP', ...settling]
  return all.filter((line, index) => line !== all[index - 1])
}
