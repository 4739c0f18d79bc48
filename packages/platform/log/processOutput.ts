import type { Logger } from './logger.ts'

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
