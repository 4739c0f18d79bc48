import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tryRun } from '#infra/command.ts'

/** One line of progress, between the lines of the tests. */
export const log = (line: string): void => void process.stderr.write(`${line}\n`)

/** Throws a line that says what to install unless the program runs. */
export async function requireProgram(program: string, args: string[], what: string): Promise<void> {
  if ((await tryRun(program, args)) === undefined)
    throw new Error(`npm run test:integrations needs ${what} on the PATH (\`${program}\`): install it`)
}

/** The packages that a file of this folder lists: what `pip freeze` printed when their versions were chosen. */
export const packagesOf = (file: string): string[] =>
  readFileSync(join(import.meta.dirname, file), 'utf8')
    .trimEnd()
    .split('\n')
