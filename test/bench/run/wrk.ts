import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Bench } from './bench.ts'

const script = join(import.meta.dirname, 'wrk.lua')
const run = promisify(execFile)
const howToInstall = 'wrk is not installed. Install it: "apt-get install wrk" or "brew install wrk".'

/** One request of a load. */
export type Question = { path: string; token: string; etag?: string }

/** What wrk found: requests/s, ms, and bytes of an answer with its head, on average. */
export type Load = { rate: number; median: number; p99: number; requests: number; bytes: number }

/** Throws a sentence on how to install wrk if it is missing. */
export async function needWrk(): Promise<void> {
  // `wrk --version` exits with 1.
  await run('wrk', ['--version']).catch(error => {
    if (error.code === 'ENOENT') throw new Error(howToInstall)
  })
}

/** Writes down a load: `order` has the question of each request, again from the start. Returns `putLoad`'s file. */
export function writePlan(bench: Bench, questions: Question[], order: ArrayLike<number> = [0]): string {
  const file = join(bench.folder, `requests-${bench.nextNumber()}.txt`)
  const lines = [
    questions.length,
    ...questions.map(({ path, token, etag = '' }) => `${path}\t${token}\t${etag}`),
    ...Array.from(order, index => index + 1),
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

/**
 * Puts a load on an address with one thread of wrk, which takes far less of the processor than a generator in Node,
 * over connections that stay open. With `perSecond` each connection rests between its requests, so that it is at most
 * that many; without, each asks as soon as it has its answer. `signal` ends it before its time. Throws if an answer is
 * missing or is not a 2xx or 3xx.
 */
export async function putLoad(
  address: string,
  plan: string,
  {
    connections,
    seconds,
    perSecond,
    signal,
  }: { connections: number; seconds: number; perSecond?: number; signal?: AbortSignal },
): Promise<Load> {
  const pauseMs = perSecond === undefined ? 0 : (connections * 1000) / perSecond
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script]
  const running = run('wrk', [...options, address, '--', plan], {
    env: { ...process.env, PAUSE_MS: String(pauseMs) },
  })
  // It prints its figures all the same.
  signal?.addEventListener('abort', () => running.child.kill('SIGINT'))
  const { stdout } = await running
  const line = stdout.split('\n').find(line => line.startsWith('{'))
  if (line === undefined) throw new Error(`wrk ended without figures: ${stdout}`)
  const { requests, bytes, microseconds, median, p99, failed, refused } = JSON.parse(line)
  if (requests === 0 || failed + refused > 0)
    throw new Error(
      `the load on ${address} failed: ${requests} answers, ${refused} not 2xx or 3xx, ${failed} without an answer`,
    )
  return {
    rate: requests / (microseconds / 1e6),
    median: median / 1000,
    p99: p99 / 1000,
    requests,
    bytes: bytes / requests,
  }
}

const usualConnections = 64

/** The same with one question, which all connections ask. Throws unless all answers were a 2xx or 3xx. */
export async function putOneQuestion(
  bench: Bench,
  { url, token, connections = usualConnections }: { url: string; token: string; connections?: number },
): Promise<{ rate: number; median: number; p99: number }> {
  const { origin, pathname, search } = new URL(url)
  const plan = writePlan(bench, [{ path: pathname + search, token }])
  const { rate, median, p99 } = await putLoad(origin, plan, { connections, seconds: bench.options.seconds })
  return { rate, median, p99 }
}
