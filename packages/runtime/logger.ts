import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/**
 * What an error carries besides its words: ioredis puts the failed command on it (of AUTH, user and password), pg-pool the
 * connection that broke (with the key that cancels its queries).
 */
const secrets = ['command.args', 'client']
const redact = {
  paths: secrets.flatMap(path => [`err.${path}`, `err.*.${path}`, `err.*[*].${path}`]),
  remove: true,
}

/** The log of a process: JSON lines on stderr, because stdout is for results (commands.md). */
export function openLogger(service: string, level: string): Logger {
  return pino(
    { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime, redact },
    pino.destination({ dest: 2, sync: true }),
  )
}
