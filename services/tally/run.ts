import { inspect } from 'node:util'
import { CommanderError } from 'commander'
import { sentenceOf, UsageError, wasWrongUsage } from './failure.ts'
import { remark } from './output.ts'
import { createProgram } from './program.ts'

/**
 * Runs a command line (without the program's name). Returns the exit code if it failed: 1, or 2 for wrong usage
 * (docs/reference.md, Commands), after one line that says why; undefined if it is done, or runs until a signal.
 */
export async function run(args: string[]): Promise<number | undefined> {
  try {
    // commander would take the last value; only --scope collects all.
    const names = args.filter(arg => /^--[a-z]/.test(arg)).map(arg => arg.replace(/=.*/s, ''))
    const twice = names.find((name, index) => name !== '--scope' && names.indexOf(name) < index)
    if (twice !== undefined) throw new UsageError(`${twice} was given twice`)
    await createProgram().parseAsync(args, { from: 'user' })
    return undefined
  } catch (error) {
    // commander has printed its message or help already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    remark(`tally: ${sentenceOf(error, process.env)}`)
    if (/^(debug|trace)$/.test(process.env.LOG_LEVEL ?? '')) remark(...inspect(error).split('\n'))
    return wasWrongUsage(error) ? 2 : 1
  }
}
