import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { program } from './program.ts'

export type Ran = { code: number | null; stdout: string; stderr: string }

/**
 * Runs the real `tally` with these settings and nothing else of the environment, gives it `input` on stdin, and waits
 * for its end.
 */
export async function tally(args: string[], settings: Record<string, string> = {}, input = ''): Promise<Ran> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, ...settings },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // A program may end without reading its stdin.
  child.stdin.on('error', () => {}).end(input)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve).on('error', reject)
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, stdout, stderr }
}
