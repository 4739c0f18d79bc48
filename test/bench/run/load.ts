import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Sample } from './rounds.ts'

const program = join(import.meta.dirname, 'loadProcess.ts')
export const connections = 64

/** `amount`: so many requests instead of a time. */
export type Load = {
  url: string
  token?: string
  connections: number
  seconds: number
  amount?: number
}

/**
 * Puts a load on an address from a process of its own, over connections that stay open. Returns `rate` (requests/s),
 * `median` and `p99` (ms). An answer that is no 200 or that does not come is thrown.
 */
export async function putLoad(load: Load): Promise<Sample> {
  const run = promisify(execFile)(process.execPath, [program, JSON.stringify(load)])
  const { stdout } = await run
  return JSON.parse(stdout) as Sample
}
