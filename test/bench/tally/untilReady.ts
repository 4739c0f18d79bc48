import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '@tally/testkit/processes/http'
import type { Service } from '../../chaos/system/service.ts'

const lookEveryMs = 20

/** Waits until a service's `/readyz` says 200, as an operator does; throws if the service ends before. */
export async function untilReady({ name, ops, hasEnded, logFile }: Service): Promise<void> {
  for (; !hasEnded(); await sleep(lookEveryMs)) if ((await ask(ops, '/readyz')).status === 200) return
  throw new Error(`${name} ended before it was ready; see ${logFile}`)
}
