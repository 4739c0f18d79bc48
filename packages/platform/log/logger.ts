import { type Logger, pino } from 'pino'
import { visible } from './visible.ts'

export type { Logger } from 'pino'

/**
 * Fields of errors that hold secrets: ioredis adds the failed command (AUTH has user and password), pg-pool the broken
 * connection (with the key that cancels its queries).
 */
const secrets = ['command.args', 'client']
const redact = {
  paths: secrets.flatMap(path => [`err.${path}`, `err.*.${path}`, `err.*[*].${path}`]),
  remove: true,
}

/** The log of a process: JSON lines on stderr, because stdout is for results; what a terminal would obey is escaped. */
export function createLogger(service: string, level: string): Logger {
  const stderr = pino.destination({ dest: 2, sync: true })
  return pino(
    { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime, redact },
    { write: line => stderr.write(`${visible(line.trimEnd())}\n`) },
  )
}
