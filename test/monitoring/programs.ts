import { join } from 'node:path'
import { until } from '@tally/testkit/until'
import { unpackedProgram } from '#infra/install/unpacked.ts'
import { freePort } from '#infra/servers/ports.ts'
import { end, endOfLog, launch } from '#infra/servers/process.ts'

const log = (line: string): void => void process.stderr.write(`${line}\n`)

export const promtool = (): Promise<string> => unpackedProgram('promtool', 'prometheus', log)

export type Program = { name: string; args: (listen: string) => string[]; env?: Record<string, string> }
export type Started = { address: string; stop: () => Promise<void> }

/** Starts a program of the Debian package of its name on a free port; resolves when it answers. */
export async function startProgram({ name, args, env = {} }: Program, folder: string): Promise<Started> {
  const command = await unpackedProgram(name, name, log)
  const listen = `127.0.0.1:${await freePort()}`
  const logFile = join(folder, `${name}.log`)
  const running = launch({ command, args: args(listen), env, logFile, stopSignal: 'SIGTERM' })
  const address = `http://${listen}`
  await until(`${name} answers`, async () => {
    if (running.hasEnded()) throw new Error(`${name} ended:\n${endOfLog(logFile)}`)
    return fetch(`${address}/metrics`).then(
      ({ ok }) => ok,
      () => false,
    )
  })
  return { address, stop: () => end(running, 'SIGKILL').then(() => undefined) }
}
