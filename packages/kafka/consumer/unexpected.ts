import { isUnreachable, type Logger, oncePerMinute, reasonOf } from '@tally/platform'

/**
 * Returns a function that logs an error that is tried again: with its stack at debug level and, once a minute for each
 * reason, as a warning. Not the first of `failures` in a row, such as a coordinator that is still loading; and not that
 * a part does not answer, which the caller's process reports.
 */
export function createUnexpected(
  logger: Logger,
  sentence: string,
): (error: unknown, failures: number) => void {
  const warnings = oncePerMinute<string>((reason, count) => logger.warn({ reason, count }, sentence))
  return (error, failures) => {
    logger.debug({ err: error }, sentence)
    if (failures > 1 && !isUnreachable(error)) warnings.note(reasonOf(error), 1, '')
  }
}
