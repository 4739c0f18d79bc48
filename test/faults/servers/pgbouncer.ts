import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@tally/testkit/until'
import { installPackage } from '#infra/install/apt.ts'
import { freePort } from '#infra/servers/ports.ts'
import { postgresOwner } from '#infra/servers/postgresOwner.ts'
import { end, endOfLog, launch } from '#infra/servers/process.ts'

export type Pooler = { url: string; restart: () => Promise<void>; stop: () => Promise<void> }

const program = '/usr/sbin/pgbouncer'

/**
 * Starts Debian's PgBouncer in front of the Postgres at `databaseUrl`, by default in session mode; as root, installs
 * the package.
 */
export async function startPgbouncer(
  databaseUrl: string,
  { mode = 'session' }: { mode?: 'session' | 'transaction' } = {},
): Promise<Pooler> {
  if (!existsSync(program) && !(await installPackage('pgbouncer', { log: console.error, signal: undefined })))
    throw new Error('PgBouncer is missing: install it (apt-get install pgbouncer)')
  const folder = mkdtempSync(join(tmpdir(), 'tally-pgbouncer-'))
  const target = new URL(databaseUrl)
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  const logFile = join(folder, 'log')
  writeFileSync(
    file,
    `[databases]
* = host=${target.hostname} port=${target.port} user=${target.username} password=${target.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 60
max_client_conn = 200
`,
  )
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
    url: Object.assign(target, { port: String(port) }).href,
    async restart() {
      await end(running, 'SIGKILL')
      running = await begin()
    },
    async stop() {
      await end(running, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const listens = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => resolve(false)).on('connect', () => resolve(socket.destroy() !== undefined))
  })
