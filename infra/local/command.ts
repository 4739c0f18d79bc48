import { spawn } from 'node:child_process'
import type { Owner } from './servers/process.ts'

/** What a finished command printed; stdout and stderr together in `output`. */
export type Finished = {
  stdout: string
  output: string
}

export type RunOptions = {
  owner?: Owner | undefined
  env?: Record<string, string>
  cwd?: string
  signal?: AbortSignal | undefined
  /** Its stdin; empty by default. */
  input?: string
  /** How many lines of output the error shows if it fails; 15 by default. */
  errorLines?: number
  /** Is given each whole line of output as it comes. */
  onLine?: (line: string) => void
}

/** Runs a command to its end. Throws with the end of its output if it fails, is not installed, or `signal` ends it. */
export async function run(command: string, args: string[], options: RunOptions = {}): Promise<Finished> {
  const { owner, env, cwd, signal, onLine, input = '', errorLines = 15 } = options
  signal?.throwIfAborted()
  const child = spawn(command, args, {
    ...owner,
    cwd,
    env: { ...process.env, ...env },
    stdio: 'pipe',
  })
  // A program may end without reading its stdin.
  child.stdin.on('error', () => {}).end(input)
  const kill = () => void child.kill('SIGTERM')
  signal?.addEventListener('abort', kill)
  let stdout = ''
  let output = ''
  let rest = ''
  const take = (text: string) => {
    output += text
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine?.(line)
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    take(text)
  })
  child.stderr.setEncoding('utf8').on('data', take)
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.once('error', reject)
  child.once('close', resolve)
  const code = await promise.finally(() => signal?.removeEventListener('abort', kill))
  signal?.throwIfAborted()
  if (code === 0) return { stdout, output }
  const tail = output.trimEnd().split('\n').slice(-errorLines).join('\n    ')
  throw new Error(`${command} ${args[0] ?? ''} failed (exit code ${code}):\n    ${tail}`)
}

/** What a command prints on stdout, or undefined when it is not installed or fails. */
export async function tryRun(
  command: string,
  args: string[],
  options: RunOptions = {},
): Promise<string | undefined> {
  return run(command, args, options).then(
    ({ stdout }) => stdout,
    () => {
      options.signal?.throwIfAborted()
      return undefined
    },
  )
}
