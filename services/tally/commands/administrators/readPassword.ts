import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { passwordProblem } from '@tally/access'
import { UsageError } from '../../failure.ts'

/**
 * Reads a new password: on a terminal it asks twice, without showing it; otherwise it takes the first line of stdin.
 * Never an argument, which every user of the machine could see. Throws a UsageError if it is too short or too common.
 */
export async function readPassword(email: string): Promise<string> {
  const password = process.stdin.isTTY ? await askTwice() : await firstLine()
  const problem = await passwordProblem(password, email)
  if (problem !== undefined) throw new UsageError(`the password ${problem}`)
  return password
}

async function firstLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) return line
  return ''
}

async function askTwice(): Promise<string> {
  const [password, again] = [await ask('Password: '), await ask('Repeat password: ')]
  if (password !== again) throw new UsageError('the two passwords differ: nothing was created')
  return password
}

async function ask(question: string): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true })
  // Without this Ctrl-C would leave the question open.
  terminal.on('SIGINT', () => process.exit(1))
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}
