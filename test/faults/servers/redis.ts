import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '#infra/servers/ports.ts'
import { end, launch, type Running } from '#infra/servers/process.ts'

/** Some `redis-server` processes of one test, in a folder that is deleted with them. */
export type Redises = {
  folder: string
  /** Starts one with these lines of configuration; resolves with its port immediately, before it answers. */
  start(lines: string[], options?: { isTls?: boolean; isSentinel?: boolean }): Promise<number>
  /** Kills the one at a port. */
  kill(port: number): Promise<void>
  stop(): Promise<void>
}

export function openRedises(): Redises {
  const folder = mkdtempSync(join(tmpdir(), 'tally-redis-'))
  const running = new Map<number, Running>()
  const kill = async (port: number) => {
    const process = running.get(port)
    running.delete(port)
    if (process !== undefined) await end(process, 'SIGKILL')
  }
  return {
    folder,
    async start(lines, { isTls = false, isSentinel = false } = {}) {
      const own = await freePort()
      const file = join(folder, `${own}.conf`)
      const listens = isTls ? ['port 0', `tls-port ${own}`] : [`port ${own}`]
      const keeps = isSentinel ? [] : ['save ""', `dbfilename ${own}.rdb`]
      writeFileSync(file, [...listens, 'bind 127.0.0.1', `dir ${folder}`, ...keeps, ...lines, ''].join('\n'))
      const args = [file, ...(isSentinel ? ['--sentinel'] : [])]
      const logFile = join(folder, `${own}.log`)
      running.set(own, launch({ command: 'redis-server', args, logFile, stopSignal: 'SIGTERM' }))
      return own
    },
    kill,
    async stop() {
      await Promise.all([...running.keys()].map(kill))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A certificate for 127.0.0.1 that signs itself; returns its files. */
export function makeCertificate(folder: string): { certificate: string; key: string } {
  const [certificate, key] = [join(folder, 'redis.crt'), join(folder, 'redis.key')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject]
  execFileSync('openssl', [...request, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  chmodSync(key, 0o644)
  return { certificate, key }
}
