import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { maxPasswordLength, minPasswordLength } from '@tally/access'
import { UsageError } from '../../failure.ts'

/**
 * A new password: asked for twice where a person sits at a terminal, without showing it, else the first line of
 * stdin. Never an argument, which every user of the machine could see. Throws a UsageError for one that will not do.
 */
export async function readPassword(): Promise<string> {
  const password = process.stdin.isTTY ? await askTwice() : await firstLine()
  const takes = `the password takes ${minPasswordLength} to ${maxPasswordLength} characters`
  if (password.length < minPasswordLength || password.length > maxPasswordLength)
    throw new UsageError(`${takes}, got ${password.length}`)
  return password
}

async function firstLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) return line
  return ''
}

async function askTwice(): Promise<string> {
  const [password, again] = [await ask('Password: '), await ask('The same again: ')]
  if (password !== again) throw new UsageError('the two passwords differ: nothing was made')
  return password
}

async function ask(question: string): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true })
  // Without this a Ctrl-C would leave the question open for ever.
  terminal.on('SIGINT', () => process.exit(1))
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}
