import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPath } from '#infra/install/programs.ts'
import { freePort } from '#infra/servers/ports.ts'
import { nginxSettings, start } from '../integrations/caches.ts'

/** Reverse proxies as their manuals begin: what runs, and its settings from `port` to the port behind it. */
const proxies = {
  nginx: {
    args: (file: string) => ['-e', 'stderr', '-c', file],
    settings: (port: number, behind: number, folder: string) =>
      nginxSettings(
        folder,
        `server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${behind}; } }`,
      ),
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

/** Starts a proxy in front of a port, and returns its port. As root on Debian its package is installed. */
export async function startProxy(
  name: Proxy,
  behind: number,
): Promise<{ port: number; stop: () => Promise<unknown> }> {
  const program = { names: [name], debianPackage: name, neededBy: 'the floods' }
  const command = await programPath(program, line => console.error(line))
  const folder = mkdtempSync(join(tmpdir(), `tally-${name}-`))
  const port = await freePort()
  const file = join(folder, 'settings')
  const { args, settings } = proxies[name]
  writeFileSync(file, settings(port, behind, folder))
  // It would be on another machine: here it has the processors last, as the flood has.
  const last = { command: 'nice', args: ['-n', '19', command, ...args(file)] }
  const { stop } = await start(name, last, `127.0.0.1:${port}`, folder)
  return {
    port,
    async stop() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
