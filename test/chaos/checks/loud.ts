import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '@tally/testkit/processes/http'
import type { System } from '../system/system.ts'

/** Waits until a process reports on `/readyz` (503) what is wrong; false if none did in time. */
export async function isLoud(
  { projectors, queries }: System,
  sentence: RegExp,
  timeoutMs: number,
): Promise<boolean> {
  for (const until = Date.now() + timeoutMs; ; await sleep(100)) {
    const asked = [...projectors, ...queries].map(({ ops }) => ask(ops, '/readyz').catch(() => undefined))
    const replies = await Promise.all(asked)
    if (replies.some(reply => reply?.status === 503 && sentence.test(reply.text))) return true
    if (Date.now() > until) return false
  }
}
