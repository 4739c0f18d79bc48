import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable, Writable } from 'node:stream'
import type { Finished } from './process.ts'

/**
 * Runs a command of `tally` in this process, with these settings and nothing else of the environment and with `input`
 * on stdin: the start of a process takes 0.5 s of the processor, most commands 0.05 s. Several may run at the same
 * time. Not for services, which listen to signals, and not for `doctor`, which leaves connections open: `runTally`
 * (process.ts) starts the real program.
 */
export async function tally(
  args: string[],
  settings: Record<string, string> = {},
  input = '',
): Promise<Finished> {
  const { run } = await import('../../../services/tally/run.ts')
  const [stdout, stderr] = [collect(), collect()]
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout: stdout.stream, stderr: stderr.stream }
  const own = Object.create(real, {
    ...Object.getOwnPropertyDescriptors({ ...streams, env: { PATH: real.env.PATH, ...settings } }),
    exitCode: { value: undefined, writable: true },
    exit: { value: exit },
  }) as NodeJS.Process
  const code = await processOf.run(own, () => run(args))
  return { code: code ?? Number(own.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() }
}

/** What a command printed with --json: each of its lines must be JSON. */
export const parsedLines = (stdout: string) =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))

const real = process
/** What the global `process` is to a command that runs here. */
const processOf = new AsyncLocalStorage<NodeJS.Process>()
Object.defineProperty(globalThis, 'process', { configurable: true, get: () => processOf.getStore() ?? real })

function exit(code: number): never {
  throw new Error(`the command would end this process (exit ${code}): start the real program`)
}

function collect() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}
