import { setTimeout as pause } from 'node:timers/promises'
import type { Allowed } from './polling.ts'
import type { Random } from './random.ts'
import type { System } from './system.ts'

/** One kind of thing that goes wrong. */
export type Fault = {
  name: string
  /** What answers may say meanwhile. */
  allows: Allowed
  /** Brings the system to where it can happen; part of the quiet before. */
  prepare?: (system: System) => Promise<void>
  /** Does the damage, waits, and takes it back: only what was killed is started again. */
  run: (system: System, random: Random) => Promise<void>
  /** False where this machine cannot do it. */
  isPossible?: (system: System) => boolean
}

/** Lets the damage last for a while. */
export async function last(random: Random, leastMs: number, mostMs: number): Promise<void> {
  await pause(random.whole(leastMs, mostMs))
}
