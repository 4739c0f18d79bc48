import { fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { endOfLog } from '#infra/servers/process.ts'
import type { Bench } from './bench.ts'

/** What a ceiling reports; times are epoch milliseconds. */
export type CeilingMessage =
  | { at: 'assigned'; ms: number }
  | { at: 'done'; ms: number }
  | { at: 'listening'; address: string }

export type Ceiling = {
  /** The first message of a kind. Rejects if the process ends before it. */
  message: <At extends CeilingMessage['at']>(at: At) => Promise<Extract<CeilingMessage, { at: At }>>
  stop: () => Promise<void>
}

type CeilingName = 'bulkInsert' | 'fastifyRedis'

/** Starts a ceiling as a process of its own on the same Node, without the flags of bin/tally, which make it slower. */
export function startCeiling(bench: Bench, name: CeilingName, settings: Record<string, string>): Ceiling {
  const logFile = join(bench.folder, `${name}-${bench.nextNumber()}.log`)
  const log = openSync(logFile, 'a')
  const child = fork(join(import.meta.dirname, '../ceilings', `${name}.ts`), [], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  const messages: CeilingMessage[] = []
  child.on('message', message => messages.push(message as CeilingMessage))
  const ended = once(child, 'exit')
  const isGone = () => child.exitCode !== null || child.signalCode !== null

  return {
    async message(at) {
      for (;;) {
        const found = messages.find(message => message.at === at)
        if (found !== undefined) return found as never
        if (isGone()) throw new Error(`the ceiling ${name} ended too early:\n${endOfLog(logFile)}`)
        const late = new AbortController()
        await Promise.race([once(child, 'message', { signal: late.signal }), ended])
        late.abort()
      }
    },
    async stop() {
      if (isGone()) return
      child.kill('SIGTERM')
      await ended
    },
  }
}
