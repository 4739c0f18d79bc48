import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Program, startProgram } from './programs.ts'
import type { Job } from './prometheus.ts'

/** What the exporters look at: an address of Redis, and a host:port with TLS that the certificate authority signed. */
type Watched = { redisUrl: string; tls: string; authority: string }

/** Starts Debian's exporters of Redis, the machine and certificates; returns their jobs and what stops them. */
export async function startExporters({ redisUrl, tls, authority }: Watched, folder: string) {
  const modules = { tls: { prober: 'tcp', tcp: { tls: true, tls_config: { ca_file: authority } } } }
  const blackbox = join(folder, 'blackbox.yml')
  writeFileSync(blackbox, JSON.stringify({ modules }))
  const { host, password } = new URL(redisUrl)
  const listens = (listen: string) => `--web.listen-address=${listen}`
  const programs: Program[] = [
    {
      name: 'prometheus-redis-exporter',
      args: listen => [listens(listen)],
      env: { REDIS_ADDR: `redis://${host}`, REDIS_PASSWORD: decodeURIComponent(password) },
    },
    { name: 'prometheus-node-exporter', args: listen => [listens(listen), ...onlyFilesystems] },
    {
      name: 'prometheus-blackbox-exporter',
      args: listen => [listens(listen), `--config.file=${blackbox}`],
    },
  ]
  const started = await Promise.all(programs.map(program => startProgram(program, folder)))
  const jobs = programs.map(({ name }, index): Job => {
    const target = new URL(started[index]?.address ?? '').host
    return { name, target, ...(name.includes('blackbox') && { probe: tls }) }
  })
  return { jobs, stop: () => Promise.all(started.map(({ stop }) => stop())) }
}

const onlyFilesystems = ['--collector.disable-defaults', '--collector.filesystem']
