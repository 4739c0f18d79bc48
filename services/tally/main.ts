import { CommanderError } from 'commander'
import { sentenceOf, wasWrongUsage } from './failure.ts'
import { openProgram } from './program.ts'

/** Whoever reads the results may stop reading (`tally keys list … | head -1`): that is no failure. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
process.stderr.on('error', () => {})

try {
  await openProgram().parseAsync()
} catch (error) {
  process.exit(report(error))
}

/** Says what went wrong, in one line, and returns the exit code: 0 done, 1 failed, 2 wrong usage (commands.md). */
function report(error: unknown): number {
  // commander has said its sentence, or shown its help, by then.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  process.stderr.write(`tally: ${sentenceOf(error, process.env)}\n`)
  if (/^(debug|trace)$/.test(process.env.LOG_LEVEL ?? '')) console.error(error)
  return wasWrongUsage(error) ? 2 : 1
}
