import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPath } from '#infra/install/programs.ts'
import { freePort } from '#infra/servers/ports.ts'
import { end, endOfLog, launch } from '#infra/servers/process.ts'

const mosquitto = { names: ['mosquitto'], debianPackage: 'mosquitto', neededBy: 'the tests of the recipes' }

export type Broker = {
  port: number
  log: () => string
  /** Ends it; all that it kept is forgotten, because it writes nothing to a disk. */
  end: () => Promise<void>
  /** Starts it again on its port. */
  start: () => void
  /** Makes it deaf while its connections stay, or kills it. */
  signal: (name: 'SIGSTOP' | 'SIGKILL') => void
  stop: () => Promise<void>
}

/** Starts an MQTT broker on 127.0.0.1; as root on Debian, installs it. Clients can connect as soon as it listens. */
export async function startMosquitto(): Promise<Broker> {
  const program = await programPath(mosquitto, console.error)
  const folder = mkdtempSync(join(tmpdir(), 'tally-mosquitto-'))
  const port = await freePort()
  const file = join(folder, 'mosquitto.conf')
  const logFile = join(folder, 'log')
  // Started as root it would become a user that cannot read the folder.
  const user = process.getuid?.() === 0 ? 'user root\n' : ''
  writeFileSync(file, `listener ${port} 127.0.0.1\nallow_anonymous true\npersistence false\n${user}`)
  const start = () => launch({ command: program, args: ['-c', file], logFile, stopSignal: 'SIGTERM' })
  let running = start()
  return {
    port,
    log: () => endOfLog(logFile),
    end: () => end(running, 'SIGTERM'),
    start() {
      running = start()
    },
    signal: name => void running.signal(name),
    async stop() {
      await end(running, 'SIGTERM')
      rmSync(folder, { recursive: true })
    },
  }
}
