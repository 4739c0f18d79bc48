import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@tally/testkit/until'
import { localFolder } from '#infra/folder.ts'
import { ensureConnect } from '#infra/install/connectJars.ts'
import { log4jOption } from '#infra/servers/kafka.ts'
import { freePort } from '#infra/servers/ports.ts'
import { end, endOfLog, launch, type Running } from '#infra/servers/process.ts'
import { log } from './programs.ts'

/** A Kafka Connect worker that can be killed and started again. */
export type Connect = {
  /** Starts the worker; returns once its REST API answers. */
  start: () => Promise<void>
  /** Ends the worker at once, as a power cut would. */
  kill: () => Promise<void>
  /** Ends the worker in good order and deletes its folder. */
  stop: () => Promise<void>
  /** Creates or changes a connector; returns once it and its task run. */
  put: (name: string, configuration: Record<string, string>) => Promise<void>
  /** Stops a connector; returns once it has let go of the database. */
  halt: (name: string) => Promise<void>
  /** Makes a stopped connector forget how far it has read, and start again. */
  startAnew: (name: string) => Promise<void>
  /** Waits until the connector and its task run. */
  untilRuns: (name: string) => Promise<void>
}

/** A worker with `propertiesFile`, then `over`, and `env`. Fetches Connect and Debezium first, if they are missing. */
export async function connectWorker(
  propertiesFile: string,
  over: Record<string, string>,
  env: Record<string, string>,
): Promise<Connect> {
  const { jars, plugins } = await ensureConnect({ log, signal: undefined })
  const folder = localFolder(join('integrations', `connect-${process.pid}`))
  mkdirSync(folder, { recursive: true })
  const address = `http://127.0.0.1:${await freePort()}`
  const settings = { ...over, listeners: address, 'plugin.path': plugins }
  const properties = join(folder, 'worker.properties')
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  // Of a setting that is named twice the last value counts.
  writeFileSync(properties, `${readFileSync(propertiesFile, 'utf8')}\n${lines.join('')}`)
  const logFile = join(folder, 'log')
  let running: Running | undefined

  const statusOf = async (name: string): Promise<string> => {
    const reply = await fetch(`${address}/connectors/${name}/status`).catch(() => undefined)
    if (reply?.status !== 200) return 'unknown'
    const { connector, tasks } = (await reply.json()) as Status
    return [connector, ...tasks].map(({ state, trace = '' }) => `${state} ${trace}`.trim()).join(', ')
  }
  const untilRuns = async (name: string) => {
    let status = ''
    const runs = async () => {
      status = await statusOf(name)
      if (status.includes('FAILED')) throw new Error(`the connector failed: ${status}`)
      requireAlive()
      return status === 'RUNNING, RUNNING'
    }
    await until('the connector and its task run', runs)
  }
  const send = (method: string, path: string, body?: object) =>
    until(`Connect does ${method} ${path}`, async () => {
      const reply = await fetch(`${address}/connectors/${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      })
      // 409: the group of workers is not settled yet.
      if (!reply.ok && reply.status !== 409) throw new Error(await reply.text())
      return reply.ok
    })
  const requireAlive = () => {
    if (running?.hasEnded() !== false) throw new Error(`Kafka Connect ended:\n${endOfLog(logFile, 30)}`)
  }
  return {
    async start() {
      const jvm = ['-Xmx512m', '-XX:+UseSerialGC', log4jOption, '-cp', `${jars}/*`]
      const args = [...jvm, 'org.apache.kafka.connect.cli.ConnectDistributed', properties]
      running = launch({ command: 'java', args, env, logFile, stopSignal: 'SIGTERM' })
      await until('Kafka Connect answers', () => {
        requireAlive()
        return fetch(`${address}/connectors`).then(
          reply => reply.ok,
          () => false,
        )
      })
    },
    async kill() {
      running?.signal('SIGKILL')
      await running?.ended
    },
    async stop() {
      if (running?.hasEnded() === false) await end(running, 'SIGTERM')
      rmSync(folder, { recursive: true })
    },
    async put(name, configuration) {
      await send('PUT', `${name}/config`, configuration)
      await untilRuns(name)
    },
    async halt(name) {
      await send('PUT', `${name}/stop`)
      await until('the connector is stopped', async () => (await statusOf(name)) === 'STOPPED')
    },
    async startAnew(name) {
      await send('DELETE', `${name}/offsets`)
      await send('PUT', `${name}/resume`)
      await untilRuns(name)
    },
    untilRuns,
  }
}

type Status = Record<'connector', State> & { tasks: State[] }
type State = { state: string; trace?: string }
