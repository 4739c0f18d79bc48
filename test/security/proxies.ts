import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { programPath } from '#infra/install/programs.ts'
import { freePort, isFree } from '#infra/servers/ports.ts'
import { end, endOfLog, launch } from '#infra/servers/process.ts'

/** Reverse proxies as their manuals begin: what runs, and its settings from `port` to the port behind it. */
const proxies = {
  nginx: {
    args: (file: string) => ['-c', file, '-g', 'daemon off;'],
    settings: (port: number, behind: number, folder: string) => `
pid ${folder}/nginx.pid;
error_log ${folder}/nginx-error.log;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://127.0.0.1:${behind}; }
  }
}`,
  },
  haproxy: {
    args: (file: string) => ['-db', '-f', file],
    settings: (port: number, behind: number) => `
defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s
frontend http-in
  bind 127.0.0.1:${port}
  default_backend servers
backend servers
  server server1 127.0.0.1:${behind}
`,
  },
}
export type Proxy = keyof typeof proxies

/** Starts a proxy in front of a port; returns its port, and what ends it. As root on Debian its package is installed. */
export async function startProxy(
  name: Proxy,
  behind: number,
): Promise<{ port: number; stop: () => Promise<unknown> }> {
  const program = { names: [name], debianPackage: name, neededBy: 'the floods' }
  const command = await programPath(program, line => console.error(line))
  const folder = mkdtempSync(join(tmpdir(), `tally-${name}-`))
  const port = await freePort()
  const file = join(folder, 'settings')
  const logFile = join(folder, 'log')
  const { args, settings } = proxies[name]
  writeFileSync(file, settings(port, behind, folder))
  const running = launch({ command, args: args(file), logFile, stopSignal: 'SIGTERM' })
  while (await isFree(port)) {
    if (running.hasEnded()) throw new Error(`${name} ended:\n${endOfLog(logFile)}`)
    await sleep(20)
  }
  return { port, stop: () => end(running, 'SIGTERM') }
}
