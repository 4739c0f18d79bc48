/** How a run is ended from outside. */
export type Interruption = {
  /** Aborted at the first Ctrl-C or SIGTERM, or when the process that started this one is gone. */
  signal: AbortSignal
  /** 130 after Ctrl-C, 143 after the others. */
  exitCode: () => number
  /** Takes the signals away from a library that would quit the process at once, before the servers are stopped. */
  keepSignals: () => void
}

const sameKeyMs = 1000

/**
 * Turns signals into an AbortSignal. One Ctrl-C arrives several times, from the terminal and from npm, so that what
 * comes within a second counts as one; a later one quits at once, and the servers' watches clean up.
 */
export function listenForInterruption(): Interruption {
  const controller = new AbortController()
  let code = 0
  let firstAt = 0
  const interrupt = (exitCode: number) => {
    if (firstAt !== 0 && Date.now() - firstAt > sameKeyMs) process.exit(code)
    if (firstAt !== 0) return
    firstAt = Date.now()
    code = exitCode
    controller.abort(new Error('interrupted'))
  }
  const keepSignals = () => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.removeAllListeners(signal)
      process.on(signal, () => interrupt(signal === 'SIGINT' ? 130 : 143))
    }
  }
  keepSignals()
  if (process.connected) {
    process.on('disconnect', () => controller.signal.aborted || interrupt(143))
    process.channel?.unref()
  }
  return { signal: controller.signal, exitCode: () => code, keepSignals }
}
