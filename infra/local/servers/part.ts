import type { PartName, ServerOptions } from './server.ts'

/** What a server is started with. */
export interface PartSetup extends ServerOptions {
  /** Its data; made when missing. */
  folder: string
  logFile: string
  port: number
  /** Keeps what it was told through a crash of the machine; false is faster and good enough for tests. */
  durable: boolean
  /** Is told, a line each, of what takes time. */
  log: (line: string) => void
}

/** The one line that says what to install when a part can be had in no way. */
export function cannotBeHad(part: PartName, install: string, variable: string): Error {
  return new Error(
    `${part} cannot be started here: ${install}, or start a Docker engine, or set ${variable} to one that runs`,
  )
}
