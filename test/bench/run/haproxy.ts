import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { programPath } from '#infra/install/programs.ts'
import { freePort, isFree } from '#infra/servers/ports.ts'
import { end, endOfLog, launch } from '#infra/servers/process.ts'
import type { Bench } from './bench.ts'

/** How HAProxy balances: each request (`http`), or each connection, as a Service of Kubernetes does (`tcp`). */
export type Mode = 'http' | 'tcp'

/** Ports of a query process: of its API, and for `/readyz`. */
export type Target = { port: number; opsPort: number }

/**
 * HAProxy with a check a second, as an operator would have it (docs/operations.md, Rolling restarts), but it repeats
 * nothing: a request that a query process fails, fails.
 */
const settingsOf = (port: number, mode: Mode, targets: Target[]): string => `
global
  nbthread 1
defaults
  mode ${mode}
  retries 0
  timeout connect 1s
  timeout client 30s
  timeout server 30s
frontend api
  bind 127.0.0.1:${port}
  default_backend query
backend query
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 1s fall 2 rise 1
${targets.map(({ port, opsPort }, index) => `  server query-${index} 127.0.0.1:${port} check port ${opsPort}`).join('\n')}
`

/** The path of HAProxy; as root on Debian, its package is installed. */
export const haproxyPath = ({ log }: Pick<Bench, 'log'>): Promise<string> =>
  programPath({ names: ['haproxy'], debianPackage: 'haproxy', neededBy: 'rolling restarts' }, log)

/** Starts HAProxy in front of query processes that are ready; returns its address and what ends it. */
export async function startHaproxy(bench: Bench, mode: Mode, targets: Target[]) {
  const command = await haproxyPath(bench)
  const port = await freePort()
  const name = join(bench.folder, `haproxy-${bench.nextNumber()}`)
  writeFileSync(`${name}.cfg`, settingsOf(port, mode, targets))
  const logFile = `${name}.log`
  const running = launch({ command, args: ['-db', '-f', `${name}.cfg`], logFile, stopSignal: 'SIGTERM' })
  while (await isFree(port)) {
    if (running.hasEnded()) throw new Error(`HAProxy ended:\n${endOfLog(logFile)}`)
    await sleep(20)
  }
  return { address: `http://127.0.0.1:${port}`, stop: () => end(running, 'SIGTERM') }
}
