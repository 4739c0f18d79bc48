import { tryRun } from '#infra/command.ts'

/** One line of progress, between the lines of the tests. */
export const log = (line: string): void => void process.stderr.write(`${line}\n`)

/** Throws a line that says what to install unless the program runs. */
export async function requireProgram(program: string, args: string[], what: string): Promise<void> {
  if ((await tryRun(program, args)) === undefined)
    throw new Error(`npm run test:integrations needs ${what} on the PATH (\`${program}\`): install it`)
}
