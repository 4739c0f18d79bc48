import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { portIsFree } from './ports.ts'
import { commandLine, end, endOfLog, type Launch, launch, type Running } from './process.ts'

export type PartName = 'kafka' | 'postgres' | 'redis'

/** One real server on this machine. After a kill or a stop it starts again on the same port and data. */
export type Server = {
  name: PartName
  /** How a client names it: brokers for Kafka, a URL for the others. */
  url: string
  /** Returns once the server answers; throws with the end of its log when it does not. */
  start: () => Promise<void>
  /** Ends it in good order and returns when it is gone. */
  stop: () => Promise<void>
  /** Sends a signal; returns at once, after SIGKILL and SIGTERM when the process is gone. */
  kill: (signal: NodeJS.Signals) => Promise<void>
  /** The process id of the running server, else undefined. */
  pid: () => number | undefined
}

/** What differs from one kind of server to the next. */
export type ServerKind = {
  name: PartName
  url: string
  /** Where it listens on 127.0.0.1. */
  port: number
  /** Where the pid is kept while it runs; its folder is the server's data. */
  pidFile: string
  logFile: string
  /** Makes the data folder ready; may be called many times. */
  prepare: () => Promise<Omit<Launch, 'logFile'>>
  /** True once it answers a real request. */
  answers: () => Promise<boolean>
  /** A log line with which a server ends that only has to be started once more. */
  tryAgainOn?: RegExp
  /** Sends a signal by another way than to the process (a container). */
  signal?: (signal: NodeJS.Signals) => Promise<void>
}

export type ServerOptions = {
  /** Called if the server ends unexpectedly, with a sentence and the end of its log, and what starts it again. */
  onDeath: (message: string, startAgain: () => Promise<void>) => void
  signal?: AbortSignal | undefined
}

const readyTimeoutMs = 180_000

/** Makes a server of a kind of server; nothing is started yet. */
export function serverOf(kind: ServerKind, { onDeath, signal }: ServerOptions): Server {
  let running: Running | undefined
  let wanted = false
  let stopSignal: NodeJS.Signals = 'SIGTERM'

  async function start(): Promise<void> {
    if (running !== undefined && !running.hasEnded()) return
    await goneBefore(kind.pidFile)
    await portIsFree(kind.name, kind.port)
    const what = { ...(await kind.prepare()), logFile: kind.logFile }
    stopSignal = what.stopSignal
    wanted = true
    for (const until = Date.now() + readyTimeoutMs; ; ) {
      signal?.throwIfAborted()
      const process = launch(what)
      running = process
      writePid(kind.pidFile, process.pid)
      if (await isReady(process, kind, until)) return watchOver(process)
      signal?.throwIfAborted()
      const log = endOfLog(kind.logFile)
      if (kind.tryAgainOn?.test(log) && Date.now() < until && wanted) await sleep(200)
      else throw new Error(`${kind.name} did not start (${await process.ended}); the end of its log:\n${log}`)
    }
  }

  function watchOver(process: Running): void {
    void process.ended.then(how => {
      rmSync(kind.pidFile, { force: true })
      if (!wanted || running !== process) return
      const log = `the end of ${kind.logFile}:\n${endOfLog(kind.logFile)}`
      onDeath(`${kind.name} ended by itself (${how}); ${log}`, start)
    })
  }

  async function stop(): Promise<void> {
    wanted = false
    if (running === undefined) return
    if (kind.signal !== undefined) await kind.signal(stopSignal)
    await end(running, stopSignal)
    rmSync(kind.pidFile, { force: true })
  }

  async function kill(which: NodeJS.Signals): Promise<void> {
    if (running === undefined || running.hasEnded()) return
    const ends = which === 'SIGKILL' || which === 'SIGTERM'
    if (ends) wanted = false
    if (kind.signal !== undefined) await kind.signal(which)
    else running.signal(which)
    if (ends) await running.ended
  }

  const pid = () => (running === undefined || running.hasEnded() ? undefined : running.pid)
  return { name: kind.name, url: kind.url, start, stop, kill, pid }
}

async function isReady(process: Running, { answers, name }: ServerKind, until: number): Promise<boolean> {
  while (!process.hasEnded()) {
    if (await answers().catch(() => false)) return true
    if (Date.now() > until) {
      await end(process, 'SIGKILL')
      throw new Error(`${name} does not answer ${readyTimeoutMs / 1000} s after its start`)
    }
    await sleep(50)
  }
  return false
}

function writePid(pidFile: string, pid: number): void {
  mkdirSync(dirname(pidFile), { recursive: true })
  writeFileSync(pidFile, `${pid}\n`)
}

/**
 * Waits for the server that an earlier run left behind on the same data (that run was killed; its watch is ending the
 * server just now), and after 15 s ends it. A pid that another program has by now is left alone: its command line
 * does not name the data folder.
 */
async function goneBefore(pidFile: string): Promise<void> {
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8'))
  const isOurs = () => pid > 1 && commandLine(pid).includes(dirname(pidFile))
  for (const until = Date.now() + 15_000; isOurs(); await sleep(100)) {
    if (Date.now() > until) process.kill(pid, 'SIGKILL')
  }
  rmSync(pidFile, { force: true })
}
