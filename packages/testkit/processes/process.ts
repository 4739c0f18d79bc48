import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { compiledFolder, program } from './program.ts'

export type Environment = Record<string, string>
export type LogLine = { msg?: string; address?: string; ops?: string } & Record<string, unknown>

/** One running `tally` process; `log` is everything that it has written so far. */
export type TallyProcess = {
  log: () => string
  pid: number
  /** Resolves with the first JSON line of the log for which `matches` holds. Rejects if the process ends before it. */
  line: (matches: (line: LogLine) => boolean) => Promise<LogLine>
  /** Resolves when it has started, with the addresses of its API or pages ('' for a projector) and of its ops port. */
  started: () => Promise<{ address: string; ops: string }>
  /** Sends a signal and waits for the end; resolves with the exit code (null after a signal). */
  end: (signal?: NodeJS.Signals) => Promise<number | null>
  /** Resolves with the exit code when the process ends. */
  ended: Promise<number | null>
}

const running = new Set<ChildProcess>()
// A worker that is killed in the middle of a test must not leave a process behind.
process.on('exit', () => running.forEach(child => void child.kill('SIGKILL')))

/** Starts `tally <command>` with settings in its environment; `executable` may be that of another version. */
export function startProcess(
  command: string[],
  settings: Environment,
  executable: string = program,
): TallyProcess {
  const child = spawn(executable, command, {
    env: { ...bareEnvironment(), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let isToEnd = false
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child)
    for (const waiting of watchers) waiting()
    // A test sees only a refused connection; this is the reason.
    if (!isToEnd)
      console.error(
        `tally ${command.join(' ')} ended unexpectedly (${code ?? signal}):\n${log.slice(-5_000)}`,
      )
    return code as number | null
  })
  let log = ''
  const watchers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log += text
      for (const waiting of watchers) waiting()
    })
  }
  const line: TallyProcess['line'] = matches =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = jsonLines(log).find(matches)
        if (found === undefined && running.has(child)) return
        watchers.delete(look)
        if (found === undefined) reject(new Error(`tally ${command.join(' ')} ended too early:\n${log}`))
        else resolve(found)
      }
      watchers.add(look)
      look()
    })
  return {
    log: () => log,
    pid: child.pid ?? 0,
    ended,
    line,
    async started() {
      const { address = '', ops = '' } = await line(({ msg }) => msg === `${command[0]} started`)
      return { address, ops }
    },
    end(signal = 'SIGTERM') {
      isToEnd = true
      child.kill(signal)
      return ended
    },
  }
}

export type Finished = { code: number | null; stdout: string; stderr: string }

/** Runs a `tally` command to its end, with `input` on its stdin; `executable` may be that of another version. */
export async function runTally(
  command: string[],
  settings: Environment,
  input = '',
  executable: string = program,
): Promise<Finished> {
  const child = spawn(executable, command, { env: { ...bareEnvironment(), ...settings }, stdio: 'pipe' })
  child.stdin.on('error', () => {}).end(input)
  running.add(child)
  const read = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      read[name] += text
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  running.delete(child)
  return { code, ...read }
}

/** The least that a command needs: no setting of this machine. Node's compile cache saves 0.5 s of processor time. */
const bareEnvironment = (): Environment => ({
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  NODE_COMPILE_CACHE: compiledFolder,
})

/** The lines of a log that are JSON; the last one is not yet whole. */
export function jsonLines(log: string): LogLine[] {
  return log
    .split('\n')
    .slice(0, -1)
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as LogLine)
}
