import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@tally/testkit/until'
import { installPackage } from '#infra/install/apt.ts'
import { freePort } from '#infra/servers/ports.ts'
import { postgresOwner } from '#infra/servers/postgresOwner.ts'
import { end, endOfLog, launch } from '#infra/servers/process.ts'
import type { PartOptions } from './part.ts'

export type Pooler = {
  url: string
  /** Kills it and starts it again after `downMs`. */
  restart: (downMs?: number) => Promise<void>
  /** From now on it connects to the Postgres at `databaseUrl`, as after a failover. */
  pointTo: (databaseUrl: string) => void
  stop: () => Promise<void>
}

type Mode = 'session' | 'transaction'
type PgbouncerOptions = PartOptions & { mode?: Mode }

const program = '/usr/sbin/pgbouncer'

/** Starts PgBouncer in front of the Postgres at `databaseUrl`, by default in session mode; as root, installs it. */
export async function startPgbouncer(databaseUrl: string, options: PgbouncerOptions = {}): Promise<Pooler> {
  const { log = console.error, mode = 'session' } = options
  if (!existsSync(program) && !(await installPackage('pgbouncer', { log, signal: undefined })))
    throw new Error('PgBouncer is missing: install it (apt-get install pgbouncer)')
  const folder = mkdtempSync(join(tmpdir(), 'tally-pgbouncer-'))
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  const logFile = join(options.logFolder ?? folder, 'pgbouncer.log')
  const users = join(folder, 'users.txt')
  const settings = (url: string) => settingsOf(url, { port, mode, users })
  writeFileSync(file, settings(databaseUrl))
  writeFileSync(users, usersOf(databaseUrl))
  chmodSync(folder, 0o755)
  // It refuses to run as root.
  const owner = await postgresOwner()
  const begin = async () => {
    const process = launch({ command: program, args: [file], owner, logFile, stopSignal: 'SIGINT' })
    await until('PgBouncer listens', async () => {
      if (process.hasEnded()) throw new Error(`PgBouncer ended:\n${endOfLog(logFile)}`)
      return listens(port)
    })
    return process
  }
  let running = await begin()
  return {
    url: Object.assign(new URL(databaseUrl), { port: String(port) }).href,
    async restart(downMs = 0) {
      await end(running, 'SIGKILL')
      await sleep(downMs)
      running = await begin()
    },
    pointTo(url) {
      writeFileSync(file, settings(url))
      running.signal('SIGHUP')
    },
    async stop() {
      await end(running, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The superuser, and the roles of the services with their passwords in tests (testkit's makeRoles). */
function usersOf(databaseUrl: string): string {
  const { username, password } = new URL(databaseUrl)
  const roles = ['query', 'projector', 'admin'].map(service => `"tally_${service}" "x"\n`)
  return `"${username}" "${password}"\n${roles.join('')}`
}

const settingsOf = (
  databaseUrl: string,
  { port, mode, users }: { port: number; mode: Mode; users: string },
): string => {
  const { hostname, port: target } = new URL(databaseUrl)
  return `[databases]
* = host=${hostname} port=${target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = 60
max_client_conn = 400
server_login_retry = 1
`
}

const listens = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => resolve(false)).on('connect', () => resolve(socket.destroy() !== undefined))
  })
