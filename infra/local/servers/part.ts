import type { PartName, ServerOptions } from './server.ts'

/** What a server is started with. */
export type PartSetup = ServerOptions & {
  /** Its data; made when missing. */
  folder: string
  logFile: string
  port: number
  /** Data survives a crash of the machine; false is faster and good enough for tests. */
  durable: boolean
  /** Runs for minutes only, in tests: starts with less of the processor, and has less throughput. */
  brief: boolean
  /** Gets a line for each step that takes time. */
  log: (line: string) => void
}

/** One line that says what to install if a server is not available in any way. */
export function cannotBeHad(part: PartName, install: string, variable: string): Error {
  return new Error(
    `${part} cannot be started here: ${install}, or start a Docker engine, or set ${variable} to one that runs`,
  )
}
