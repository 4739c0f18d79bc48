import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '#infra/servers/ports.ts'
import { end, launch, type Running } from '#infra/servers/process.ts'
import type { PartOptions } from './part.ts'

/** Files of the certificate and key that all nodes have; the certificate is its own authority. */
export type Tls = { certificate: string; key: string }

/** Some `redis-server` processes on 127.0.0.1, in a folder that is deleted with them. */
export type RedisNodes = {
  folder: string
  /** Starts one with these lines of configuration; resolves with its port immediately, before it answers. */
  start: (lines: string[], options?: { tls?: Tls | undefined; isSentinel?: boolean }) => Promise<number>
  /** Kills the one at a port. */
  kill: (port: number) => Promise<void>
  /** Starts those that were killed again. They have no data unless `lines` keep it (`appendonly yes`). */
  startAgain: () => void
  stop: () => Promise<void>
}

export function openRedisNodes({ logFolder }: PartOptions = {}): RedisNodes {
  const folder = mkdtempSync(join(tmpdir(), 'tally-redis-'))
  const running = new Map<number, Running>()
  const launches = new Map<number, () => Running>()
  const kill = async (port: number) => {
    const process = running.get(port)
    running.delete(port)
    if (process !== undefined) await end(process, 'SIGKILL')
  }
  const startAgain = () => {
    for (const [port, start] of launches) if (!running.has(port)) running.set(port, start())
  }
  return {
    folder,
    async start(lines, { tls, isSentinel = false } = {}) {
      const own = await freePort()
      const file = join(folder, `${own}.conf`)
      const listens = tls ? ['port 0', `tls-port ${own}`, ...tlsLines(tls)] : [`port ${own}`]
      const keeps = isSentinel ? [] : ['save ""', `dbfilename ${own}.rdb`]
      writeFileSync(file, [...listens, 'bind 127.0.0.1', `dir ${folder}`, ...keeps, ...lines, ''].join('\n'))
      const args = [file, ...(isSentinel ? ['--sentinel'] : [])]
      const logFile = join(logFolder ?? folder, `redis-${own}.log`)
      launches.set(own, () => launch({ command: 'redis-server', args, logFile, stopSignal: 'SIGTERM' }))
      startAgain()
      return own
    },
    kill,
    startAgain,
    async stop() {
      await Promise.all([...running.keys()].map(kill))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const tlsLines = ({ certificate, key }: Tls): string[] => [
  `tls-cert-file ${certificate}`,
  `tls-key-file ${key}`,
  `tls-ca-cert-file ${certificate}`,
  'tls-auth-clients no',
  'tls-cluster yes',
  'tls-replication yes',
]
