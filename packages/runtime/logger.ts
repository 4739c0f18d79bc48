import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/** The log of a process: JSON lines on stderr, because stdout is for results (commands.md). */
export function openLogger(service: string, level: string): Logger {
  return pino(
    { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  )
}
