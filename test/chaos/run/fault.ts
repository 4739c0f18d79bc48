import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@tally/testkit/random'
import type { Rule } from '../checks/allowed.ts'
import type { Checking } from '../checks/checking.ts'
import type { Polling } from '../checks/polling.ts'
import type { LinkedSystem } from '../system/linkedSystem.ts'
import type { System } from '../system/system.ts'

/** What a fault may use in addition to the system: the load and the checks. */
export type FaultTools = Checking & {
  polling: Polling
  /** Ids of the events in the load. */
  eventIds: () => string[]
  /** Waits until each query process answers these events (default: all) with an `asOf` after a time. */
  isFresh: (wanted: { sinceMs: number; timeoutMs: number; eventIds?: string[] }) => Promise<boolean>
}

/** One kind of thing that goes wrong, with the system it is for. */
export type Fault<On extends System = LinkedSystem> = Pick<Rule, 'mayGoBack'> & {
  name: string
  /** What answers may say meanwhile. */
  allows: Rule['answers']
  /** Prepares the system for the fault; part of the quiet time before. */
  prepare?: (system: On) => Promise<void>
  /** Does the damage, waits, and takes it back: only what was killed is started again. */
  run: (system: On, random: Random, tools: FaultTools) => Promise<void>
  /** False if this machine cannot do it. */
  isPossible?: (system: On) => boolean | Promise<boolean>
  /** How long after it all answers must be right again; 120 s by default. */
  recoverTimeoutMs?: number
  /** The same for the lists of events; by default 5 s after everything else. */
  listsTimeoutMs?: number
}

/** Lets the damage last for a random time. */
export async function sleepBetween(random: Random, leastMs: number, mostMs: number): Promise<void> {
  await sleep(random.whole(leastMs, mostMs))
}
