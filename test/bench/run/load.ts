import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Sample } from './rounds.ts'

const program = join(import.meta.dirname, 'loadProcess.ts')
export const connections = 64

/** `amount`: how many requests to send, instead of a duration. */
export type Load = {
  url: string
  token?: string
  connections: number
  seconds: number
  amount?: number
}

/**
 * Puts a load on an address from a process of its own, over connections that stay open. Returns `rate` (requests/s),
 * `median` and `p99` (ms). Throws if an answer is missing or is not a 200.
 */
export async function putLoad(load: Load): Promise<Sample> {
  const run = promisify(execFile)(process.execPath, [program, JSON.stringify(load)])
  const { stdout } = await run
  return JSON.parse(stdout) as Sample
}
