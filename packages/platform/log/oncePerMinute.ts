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
