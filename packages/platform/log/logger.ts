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
  const stderr = pino.destination({ dest: 2, sync: true, maxLength: 1024 * 1024 })
  // On a full disk, lines up to that length wait for room.
  stderr.on('error', () => {})
  return pino(
    { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime, redact },
    { write: line => stderr.write(`${visible(line.trimEnd())}\n`) },
  )
}

const minuteMs = 60_000

/**
 * Calls `log` at most once a minute for each subject: at once for the first occurrence, then at the end of a minute in
 * which there were more, with their number and the last `of` them.
 */
export function oncePerMinute<Of>(log: (subject: string, count: number, of: Of) => void) {
  const quiet = new Map<string, { count: number; of: Of | undefined }>()

  const speak = (subject: string, count: number, of: Of): void => {
    log(subject, count, of)
    quiet.set(subject, { count: 0, of: undefined })
    setTimeout(() => {
      const missed = quiet.get(subject)
      quiet.delete(subject)
      if (missed?.of !== undefined) speak(subject, missed.count, missed.of)
    }, minuteMs).unref()
  }

  return {
    note(subject: string, count: number, of: Of): void {
      const missed = quiet.get(subject)
      if (missed === undefined) {
        speak(subject, count, of)
      } else {
        missed.count += count
        missed.of = of
      }
    },
  }
}

type Write = typeof process.stderr.write

/**
 * Sends to the log of a service what libraries and Node would print as text between its JSON lines: warnings of the
 * process, such as deprecations, and whatever is written to stdout and stderr, such as `console.warn` of ioredis. The
 * log itself does not go through these streams.
 */
export function logOutput(logger: Logger): void {
  // Node's own listener prints, apart from the kinds that the program has turned off.
  process.removeAllListeners('warning').on('warning', (warning: Error & { code?: string }) => {
    if (process.execArgv.includes(`--disable-warning=${warning.name}`)) return
    logger.warn({ warning: warning.name, code: warning.code }, warning.message)
  })
  process.stdout.write = writeTo(text => logger.info({ stream: 'stdout' }, text))
  process.stderr.write = writeTo(text => logger.warn({ stream: 'stderr' }, text))
}

const writeTo = (log: (text: string) => void): Write =>
  ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    log((typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()).trimEnd())
    const done = rest.at(-1)
    if (typeof done === 'function') process.nextTick(done as () => void)
    return true
  }) as Write
