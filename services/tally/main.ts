import { inspect } from 'node:util'
import { CommanderError } from 'commander'
import { sentenceOf, wasWrongUsage } from './failure.ts'
import { remark } from './output.ts'
import { openProgram } from './program.ts'

/** The reader of stdout may go away (`tally keys list … | head -1`): that is not a failure. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
process.stderr.on('error', () => {})

try {
  await openProgram().parseAsync()
} catch (error) {
  process.exit(report(error))
}

/**
 * Prints the error in one line and returns the exit code: 0 done, 1 failed, 2 wrong usage (docs/operations.md,
 * Commands).
 */
function report(error: unknown): number {
  // commander has printed its message or help already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  remark(`tally: ${sentenceOf(error, process.env)}`)
  if (/^(debug|trace)$/.test(process.env.LOG_LEVEL ?? '')) remark(...inspect(error).split('\n'))
  return wasWrongUsage(error) ? 2 : 1
}
