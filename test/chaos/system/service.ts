import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jsonLines, type LogLine } from '@tally/testkit/processes/process'
import { program } from '@tally/testkit/processes/program'
import { end, endOfLog, launch } from '#infra/servers/process.ts'

const startedTimeoutMs = 60_000
/** Requests that waited for a frozen process may fail until this long after it continues. */
const goOnTimeoutMs = 3_000

/** One running process of Tally. */
export type Service = {
  name: string
  pid: number
  /** Where it answers: the API, or the administration area. */
  address: string
  /** The address of its `/readyz` and `/metrics`. */
  ops: string
  logFile: string
  hasEnded: () => boolean
  /** Resolves with a few words on how it ended. */
  ended: Promise<string>
  /** Freezes it, as a stalled host does (SIGSTOP), and lets it continue. */
  freeze: () => void
  resume: () => void
  /** Whether it is frozen, or was a moment ago: connections may break when it continues. */
  isFrozen: () => boolean
  /** Ends it on purpose and returns when it is gone. */
  end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>
  /** Whether the fault run ended it on purpose. */
  isUnwanted: () => boolean
}

/** Starts `tally <command>` and returns once it says that it has started; throws with the end of its log. */
export async function startService(
  command: 'projector' | 'query' | 'admin',
  { name, env, folder }: { name: string; env: Record<string, string>; folder: string },
): Promise<Service> {
  const logFile = join(folder, `${name}.log`)
  const running = launch({ command: program, args: [command], env, logFile, stopSignal: 'SIGTERM' })
  let unwanted = false
  let frozenUntilMs = 0
  const started = await lineOf(logFile, `${command} started`, running.hasEnded)
  if (started === undefined) {
    if (!running.hasEnded()) await end(running, 'SIGKILL')
    throw new Error(`${name} did not start (${await running.ended}):\n${endOfLog(logFile)}`)
  }
  return {
    name,
    pid: running.pid,
    address: started.address ?? '',
    ops: started.ops ?? '',
    logFile,
    hasEnded: running.hasEnded,
    ended: running.ended,
    freeze() {
      frozenUntilMs = Number.POSITIVE_INFINITY
      running.signal('SIGSTOP')
    },
    resume() {
      running.signal('SIGCONT')
      frozenUntilMs = Date.now() + goOnTimeoutMs
    },
    isFrozen: () => Date.now() < frozenUntilMs,
    isUnwanted: () => unwanted,
    async end(signal) {
      unwanted = true
      await end(running, signal)
    },
  }
}

async function lineOf(file: string, msg: string, hasEnded: () => boolean): Promise<LogLine | undefined> {
  for (const until = Date.now() + startedTimeoutMs; Date.now() < until && !hasEnded(); await sleep(50)) {
    const found = jsonLines(readFileSync(file, 'utf8')).find(line => line.msg === msg)
    if (found !== undefined) return found
  }
  return undefined
}
