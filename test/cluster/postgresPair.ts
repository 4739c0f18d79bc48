import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { until } from '@tally/testkit/until'
import { Client } from 'pg'
import { startServers } from '#infra/servers/index.ts'
import type { Server } from '#infra/servers/server.ts'
import { baseBackup, writeLike } from './baseBackup.ts'
import type { PartOptions } from './part.ts'

/** A primary and a standby that streams from it; `promote` swaps them. */
export type Pair = {
  readonly primary: Server
  readonly standby: Server
  /** Whether a commit waits until the standby has it; asynchronous at first. */
  setSynchronous: (isSynchronous: boolean) => Promise<void>
  /** Ends the streaming: what the primary commits from now on dies with it. */
  stopStreaming: () => Promise<void>
  /** Makes the standby the primary. The former primary must have been killed. */
  promote: () => Promise<void>
  /** Copies the primary to a standby that does not stream; returns once it streams. */
  repair: () => Promise<void>
  stop: () => Promise<void>
}

/** A server and its folder. */
type Host = { folder: string; server: Server }

/** How far behind a standby may be when it begins to stream. */
const walKept = '512MB'

/** Starts a Postgres and a standby. */
export async function startPair(options: PartOptions = {}): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-pair-'))
  // The user that runs Postgres must be able to enter it.
  chmodSync(folder, 0o755)
  const hosts: Host[] = []
  async function stop(): Promise<void> {
    await Promise.all(hosts.map(({ server }) => server.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const first = await startHost(join(folder, 'postgres-1'), options)
    hosts.push(first)
    await setTo(first.server, 'wal_keep_size', walKept)
    // Stronger than the server's own setting, which is off in tests.
    await ask(first.server, 'alter role postgres set synchronous_commit = on')
    const other = join(folder, 'postgres-2')
    mkdirSync(join(other, 'postgres'), { recursive: true })
    cpSync(join(first.folder, 'postgres/password'), join(other, 'postgres/password'))
    await copyPrimary(first.server, other)
    hosts.push(await startHost(other, options))
    const pair = Object.assign(pairOf(hosts), { stop })
    await pair.repair()
    return pair
  } catch (error) {
    await stop()
    throw error
  }
}

async function startHost(folder: string, { logFolder, onDeath = console.error }: PartOptions): Promise<Host> {
  const servers = await startServers({
    dataFolder: folder,
    logFolder: logFolder === undefined ? folder : join(logFolder, basename(folder)),
    kafka: false,
    redis: false,
    durable: false,
    onDeath,
  })
  return { folder, server: servers.part('postgres') }
}

/** Makes the data in `folder` a copy of the primary's that follows it when it is started. */
async function copyPrimary(primary: Server, folder: string): Promise<void> {
  const data = join(folder, 'postgres/data')
  await baseBackup(primary.url, data)
  const { port, password } = new URL(primary.url)
  const settings = [
    `wal_keep_size = '${walKept}'`,
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres password=${password}'`,
    '',
  ]
  writeFileSync(join(data, 'postgresql.auto.conf'), settings.join('\n'))
  writeLike(data, join(data, 'standby.signal'), '')
}

function pairOf(hosts: Host[]): Omit<Pair, 'stop'> {
  const [primary, standby] = [() => (hosts[0] as Host).server, () => (hosts[1] as Host).server]
  const streams = async () => (await replicationOf(primary()))?.state === 'streaming'
  return {
    get primary() {
      return primary()
    },
    get standby() {
      return standby()
    },
    async setSynchronous(isSynchronous) {
      await setTo(primary(), 'synchronous_standby_names', isSynchronous ? '*' : '')
      const wanted = isSynchronous ? 'sync' : 'async'
      await until(`the standby is ${wanted}`, async () => (await replicationOf(primary()))?.kind === wanted)
    },
    async stopStreaming() {
      await setTo(standby(), 'primary_conninfo', '')
      await until('the standby streams no more', async () => !(await streams()))
    },
    async promote() {
      // Alone, it must not wait for a standby.
      await setTo(standby(), 'synchronous_standby_names', '')
      await ask(standby(), 'select pg_promote()')
      hosts.reverse()
    },
    async repair() {
      if (standby().pid() !== undefined && (await streams())) return
      await standby().kill('SIGKILL')
      await copyPrimary(primary(), (hosts[1] as Host).folder)
      await standby().start()
      await until('the standby streams', streams)
    },
  }
}

type Replication = { state: string; kind: string }

async function replicationOf(primary: Server): Promise<Replication | undefined> {
  const rows = await ask(primary, 'select state, sync_state as kind from pg_stat_replication')
  return rows[0] as Replication | undefined
}

async function setTo(server: Server, name: string, value: string): Promise<void> {
  await ask(server, `alter system set ${name} = '${value}'`)
  await ask(server, 'select pg_reload_conf()')
}

async function ask({ url }: Server, statement: string): Promise<unknown[]> {
  const session = new Client({ connectionString: url })
  await session.connect()
  return session
    .query(statement)
    .then(({ rows }) => rows)
    .finally(() => session.end())
}
