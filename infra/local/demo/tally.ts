import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '../command.ts'
import { portIsFree } from '../servers/ports.ts'
import { end, endOfLog, launch, type Running } from '../servers/process.ts'

const program = join(import.meta.dirname, '../../../services/tally/bin/tally')
const readyTimeoutMs = 60_000

/** What every command of a run has in common. */
export type RunContext = {
  /** Settings in addition to those of this process's environment. */
  env: Record<string, string>
  logFolder: string
  signal: AbortSignal
  /** Called if a service ends unexpectedly, with a sentence and the end of its log, and what starts it again. */
  onDeath: (message: string, startAgain: () => Promise<unknown>) => void
}

/** Runs a command of the program to its end, with `input` on its stdin, and returns what it printed on stdout. */
export async function tally(args: string[], { env, signal }: RunContext, input = ''): Promise<string> {
  return (await run(program, args, { env, signal, input })).stdout
}

/** A command of the program that keeps running, and the address of its readiness. */
export type Service = {
  args: string[]
  env?: Record<string, string>
  readyAt?: string
}

/** Starts a service in the background; returns once it is ready, or has ended by itself, with what stops it. */
export async function startService(
  name: string,
  service: Service,
  context: RunContext,
): Promise<{ isReady: boolean; stop: () => Promise<void> }> {
  mkdirSync(context.logFolder, { recursive: true })
  const logFile = join(context.logFolder, `${name}.log`)
  rmSync(logFile, { force: true })
  const env = { ...context.env, ...service.env }
  let running: Running | undefined
  let wanted = true
  const start = async () => {
    if (service.readyAt !== undefined) await portIsFree(name, Number(new URL(service.readyAt).port))
    const began = launch({ command: program, args: service.args, env, logFile, stopSignal: 'SIGTERM' })
    running = began
    const isReady = await untilReady(name, service.readyAt, {
      running: began,
      logFile,
      signal: context.signal,
    })
    void began.ended.then(how => {
      if (!wanted) return
      const log = `the end of ${logFile}:\n${endOfLog(logFile)}`
      context.onDeath(`${name} ended by itself (${how}); ${log}`, start)
    })
    return isReady
  }
  const stop = async () => {
    wanted = false
    if (running?.hasEnded() === false) await end(running, 'SIGTERM')
  }
  try {
    return { isReady: await start(), stop }
  } catch (error) {
    await stop()
    context.signal.throwIfAborted()
    throw error
  }
}

type Starting = { running: Running; logFile: string; signal: AbortSignal }

/** Waits until a service is ready (true) or has ended (false). Throws if it is not ready in time. */
async function untilReady(name: string, readyAt: string | undefined, { running, logFile, signal }: Starting) {
  const until = Date.now() + readyTimeoutMs
  while (readyAt !== undefined && !running.hasEnded() && !(await isReady(readyAt))) {
    if (Date.now() > until)
      throw new Error(`${name} is not ready after 60 s; the end of ${logFile}:\n${endOfLog(logFile)}`)
    await sleep(100, undefined, { signal })
  }
  return !running.hasEnded()
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
