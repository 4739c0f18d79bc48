import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LocalServers, startServers } from '#infra/servers/index.ts'

/** A primary and a standby that streams from it; addresses without a database's name. */
export type Pair = { primary: LocalServers; standby: LocalServers; stop: () => Promise<void> }

const only = { kafka: false, redis: false, durable: false }

/**
 * Starts a Postgres and a standby, which begins as a copy of its folder, because the packaged binaries have no
 * pg_basebackup.
 */
export async function startPair(): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-pair-'))
  // The user that runs Postgres must be able to enter it.
  chmodSync(folder, 0o755)
  const [one, other] = [join(folder, 'one'), join(folder, 'other')]
  const first = await startServers({ dataFolder: one, ...only })
  await first.stop()
  copy(one, other)
  const { port: own, password } = new URL(first.databaseUrl)
  const port = Number(own)
  const data = join(other, 'postgres/data')
  writeFileSync(join(data, 'standby.signal'), '')
  const settings = `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres password=${password}'\n`
  const file = join(data, 'postgresql.auto.conf')
  writeFileSync(file, (existsSync(file) ? readFileSync(file, 'utf8') : '') + settings)
  const primary = await startServers({ dataFolder: one, ...only, ports: { postgres: port } })
  const standby = await startServers({ dataFolder: other, ...only })
  return {
    primary,
    standby,
    async stop() {
      await Promise.all([primary.stop(), standby.stop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to])
