import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { addressOf } from '../words.ts'
import { forgetVolume, hasDocker } from './container.ts'
import { kafkaServer } from './kafka.ts'
import { freePort } from './ports.ts'
import { postgresServer } from './postgres.ts'
import { forgetFolder } from './postgresOwner.ts'
import { redisServer } from './redis.ts'
import type { PartName, Server } from './server.ts'

export type { PartName } from './server.ts'

export type ServersWanted = {
  /** Where the servers keep their data, an own folder for each; made when missing. */
  dataFolder: string
  /** Where their logs go; by default the data folder. */
  logFolder?: string
  /** Gets a line for each step that takes time. */
  log?: (line: string) => void
  /** Which servers to start; all by default. */
  kafka?: boolean
  postgres?: boolean
  redis?: boolean
  /** Fixed ports; free ones for those that are not named. */
  ports?: Partial<Record<PartName, number>>
  /** Begins with empty data. */
  fresh?: boolean
  /** Keeps the data through a crash of the machine; tests do without (false). */
  durable?: boolean
  /** Runs for minutes: starts with less of the processor, and has less throughput; by default what is not durable. */
  brief?: boolean
  /**
   * Called if a server ends unexpectedly, with a sentence and the end of its log, and what starts it again; by default
   * the sentence is logged.
   */
  onDeath?: (message: string, startAgain: () => Promise<void>) => void
  /** Ends the start: what has been started is stopped and `startServers` throws. */
  signal?: AbortSignal
}

/** The servers that run; addresses are empty text for a server that was not asked for. */
export type LocalServers = {
  kafkaBrokers: string
  databaseUrl: string
  redisUrl: string
  /** One of the servers, to kill it and start it again; throws for one that was not asked for. */
  part: (name: PartName) => Server
  /** Stops all of them; returns when they are gone. */
  stop: () => Promise<void>
  /** Stops all of them and deletes their data. */
  forget: () => Promise<void>
}

const makers = { kafka: kafkaServer, postgres: postgresServer, redis: redisServer }
const names = ['kafka', 'postgres', 'redis'] as const

/**
 * Starts real servers on 127.0.0.1, all at once, and returns when all of them answer. When one cannot be started, or
 * `signal` says stop, the others are stopped again and the reason is thrown. They end with this process, however that
 * ends.
 */
export async function startServers(wanted: ServersWanted): Promise<LocalServers> {
  const {
    dataFolder,
    logFolder = dataFolder,
    log = () => {},
    durable = true,
    brief = !durable,
    signal,
  } = wanted
  const { onDeath = log } = wanted
  if (wanted.fresh) await forgetAll(dataFolder)
  mkdirSync(dataFolder, { recursive: true })
  mkdirSync(logFolder, { recursive: true })
  const running = new Map<PartName, Server>()

  async function startPart(name: PartName): Promise<void> {
    const began = performance.now()
    const folder = join(dataFolder, name)
    const port = wanted.ports?.[name] ?? (await freePort())
    const logFile = join(logFolder, `${name}.log`)
    const server = await makers[name]({ folder, logFile, port, durable, brief, log, onDeath, signal })
    signal?.throwIfAborted()
    running.set(name, server)
    await server.start()
    log(`${name} ready at ${addressOf(server.url)} (${((performance.now() - began) / 1000).toFixed(1)} s)`)
  }

  const stop = async () => {
    await Promise.all([...running.values()].map(server => server.stop()))
  }
  const starts = names.filter(name => wanted[name] !== false).map(startPart)
  try {
    await Promise.all(starts)
    signal?.throwIfAborted()
  } catch (error) {
    await Promise.all([stop(), Promise.allSettled(starts)])
    await stop()
    throw error
  }
  const urlOf = (name: PartName) => running.get(name)?.url ?? ''
  return {
    kafkaBrokers: urlOf('kafka'),
    databaseUrl: urlOf('postgres'),
    redisUrl: urlOf('redis'),
    part,
    stop,
    forget: () => stop().then(() => forgetAll(dataFolder)),
  }

  function part(name: PartName): Server {
    const server = running.get(name)
    if (server === undefined) throw new Error(`${name} was not asked for when the servers were started`)
    return server
  }
}

/** Deletes the data of stopped servers under this folder, or in the folder that replaces it. */
export async function forgetAll(dataFolder: string): Promise<void> {
  const docker = await hasDocker()
  for (const name of names) {
    forgetFolder(join(dataFolder, name))
    if (docker) await forgetVolume(join(dataFolder, name))
  }
  rmSync(dataFolder, { recursive: true, force: true })
}
