import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '../command.ts'
import { end, endOfLog, launch } from '../servers/process.ts'

const program = join(import.meta.dirname, '../../../services/tally/bin/tally')
const readyTimeoutMs = 60_000

/** What every command of a run has in common. */
export interface Surroundings {
  /** Settings in addition to those of this process's environment. */
  env: Record<string, string>
  logFolder: string
  signal: AbortSignal
  /** Called if a service ends unexpectedly, with a sentence and the end of its log. */
  onDeath: (message: string) => void
}

/** Runs a command of the program to its end, with `input` on its stdin, and returns what it printed on stdout. */
export async function tally(args: string[], { env, signal }: Surroundings, input = ''): Promise<string> {
  return (await run(program, args, { env, signal, input })).stdout
}

/** A command of the program that keeps running, and the address of its readiness. */
export interface Service {
  args: string[]
  env?: Record<string, string>
  readyAt?: string
}

/** Starts a service in the background; returns what stops it, once it is ready. */
export async function startService(
  name: string,
  service: Service,
  around: Surroundings,
): Promise<() => Promise<void>> {
  mkdirSync(around.logFolder, { recursive: true })
  const logFile = join(around.logFolder, `${name}.log`)
  rmSync(logFile, { force: true })
  const env = { ...around.env, ...service.env }
  const running = launch({ command: program, args: service.args, env, logFile, stopSignal: 'SIGTERM' })
  let wanted = true
  void running.ended.then(how => {
    if (wanted)
      around.onDeath(`${name} ended by itself (${how}); the end of ${logFile}:\n${endOfLog(logFile)}`)
  })
  const stop = async () => {
    wanted = false
    if (!running.hasEnded()) await end(running, 'SIGTERM')
  }
  try {
    const until = Date.now() + readyTimeoutMs
    while (service.readyAt !== undefined && !running.hasEnded() && !(await isReady(service.readyAt))) {
      if (Date.now() > until) {
        throw new Error(`${name} is not ready after 60 s; the end of ${logFile}:\n${endOfLog(logFile)}`)
      }
      await sleep(100, undefined, { signal: around.signal })
    }
  } catch (error) {
    await stop()
    around.signal.throwIfAborted()
    throw error
  }
  return stop
}

function isReady(address: string): Promise<boolean> {
  return fetch(address, { signal: AbortSignal.timeout(2000) }).then(
    async answer => {
      await answer.body?.cancel()
      return answer.ok
    },
    () => false,
  )
}
