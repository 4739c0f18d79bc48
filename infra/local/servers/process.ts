import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, fchmodSync, openSync, readFileSync } from 'node:fs'

/** The system user that a process runs as; undefined for the user who started Tally. */
export type Owner = {
  uid: number
  gid: number
}

/** What to run: a program, its arguments, what is added to the environment, and its owner's own file for the output. */
export type Launch = {
  command: string
  args: string[]
  env?: Record<string, string>
  owner?: Owner | undefined
  logFile: string
  /** The signal that makes it end in good order. */
  stopSignal: NodeJS.Signals
  /** A shell command that ends it when this process is gone; by default the stop signal, after 10 s SIGKILL. */
  orphanCommand?: string | undefined
}

/** A background process that ends with this one. */
export type Running = {
  pid: number
  /** Resolves, never rejects, with a few words on how it ended. */
  ended: Promise<string>
  hasEnded: () => boolean
  signal: (signal: NodeJS.Signals) => void
}

/**
 * Starts a process in a session of its own, so that a Ctrl-C in the terminal reaches only the one who started it and
 * all can be stopped in order. With it runs a watch: a shell that reads from a pipe whose other end only this
 * process holds. Whatever ends this process, SIGKILL included, closes the pipe, and the watch ends what was started.
 */
export function launch({ command, args, env, owner, logFile, stopSignal, orphanCommand }: Launch): Running {
  const log = openSync(logFile, 'a')
  fchmodSync(log, 0o600)
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...env },
    ...owner,
  })
  closeSync(log)
  let howItEnded: string | undefined
  const ended = new Promise<string>(resolve => {
    const end = (how: string) => {
      howItEnded ??= how
      resolve(howItEnded)
    }
    child.once('error', error => end(`could not be started: ${error.message}`))
    child.once('exit', (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`))
  })
  if (child.pid !== undefined) watch(child.pid, stopSignal, orphanCommand, ended)
  return {
    pid: child.pid ?? 0,
    ended,
    hasEnded: () => howItEnded !== undefined,
    signal: signal => void child.kill(signal),
  }
}

const watchScript = `
read -r word && exit
$2
kill -$1 $3
tries=0
while kill -0 $3 && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
kill -KILL $3`

function watch(
  pid: number,
  stopSignal: string,
  orphanCommand: string | undefined,
  ended: Promise<string>,
): void {
  const script = watchScript.replace('$2', orphanCommand ?? '')
  const shell = spawn('sh', ['-c', script, 'tally-watch', stopSignal.replace('SIG', ''), '', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.on('error', () => {})
  shell.stdin.on('error', () => {})
  unref(shell)
  void ended.then(() => shell.stdin.end('ended\n'))
}

function unref(child: ChildProcess): void {
  child.unref()
  const pipe = child.stdin as { unref?: () => void } | null
  pipe?.unref?.()
}

/** Resolves when `running` has ended or `timeoutMs` have passed; returns whether it has ended. */
async function endsWithin(running: Running, timeoutMs: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), timeoutMs)
  const inTime = await Promise.race([running.ended.then(() => true), late.promise])
  clearTimeout(timer)
  return inTime
}

/** Ends a process in good order; after `timeoutMs` with SIGKILL. Returns when it is gone. */
export async function end(running: Running, stopSignal: NodeJS.Signals, timeoutMs = 15_000): Promise<void> {
  running.signal(stopSignal)
  if (await endsWithin(running, timeoutMs)) return
  running.signal('SIGKILL')
  await running.ended
}

/** The command line of a process; empty when it is gone, or the system has no /proc. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** The last lines of a log, indented, or a word that there is none. */
export function endOfLog(logFile: string, lines = 15): string {
  const text = existsSync(logFile) ? readFileSync(logFile, 'utf8').trimEnd() : ''
  const last = text === '' ? ['(its log is empty)'] : text.split('\n').slice(-lines)
  return last.map(line => `    ${line}`).join('\n')
}
