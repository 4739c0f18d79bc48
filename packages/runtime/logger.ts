import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/** ioredis hangs the command that failed on its error: of AUTH, user and password. */
const redact = {
  paths: ['err.command.args', 'err.*.command.args', 'err.*[*].command.args'],
  remove: true,
}

/** The log of a process: JSON lines on stderr, because stdout is for results (commands.md). */
export function openLogger(service: string, level: string): Logger {
  return pino(
    { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime, redact },
    pino.destination({ dest: 2, sync: true }),
  )
}
