import { festivals } from '../festivals/index.ts'
import type { FeedRecord } from '../record.ts'
import { festivalDay, organizationRecord, type Run } from './calendar.ts'
import { simulateEvening } from './evening.ts'

/** `evenings` 0 means endless. `orders` are those of one evening, over all organizations. */
export type Simulation = Run & { evenings: number }

/**
 * The records of festival evenings: first the organizations, then evening by evening each event with its day
 * open, its orders and refunds in the order of their own time, and the event with its day closed. The same
 * options give the same records, byte for byte.
 */
export function* simulate({ evenings, ...run }: Simulation): Generator<FeedRecord> {
  const { fromMs } = eveningSpan(run)
  for (const festival of festivals) {
    const value = JSON.stringify(organizationRecord(festival))
    yield { atMs: fromMs, topic: 'organizations', key: festival.organizationId, value }
  }
  for (let evening = 0; evenings === 0 || evening < evenings; evening++) {
    yield* simulateEvening({ ...run, evening })
  }
}

/** From the first opening to the last closing of the first evening, in milliseconds since 1970. */
export function eveningSpan(run: Run): { fromMs: number; toMs: number } {
  const days = festivals.map(festival => festivalDay(festival, run, 0))
  return {
    fromMs: Math.min(...days.map(({ opensMs }) => opensMs)),
    toMs: Math.max(...days.map(({ closesMs }) => closesMs)),
  }
}

/** The share of the simulation that is over at a time, 0 to 1; for an endless one, of its current evening. */
export function simulationShare({ evenings, ...run }: Simulation): (atMs: number) => number {
  const { fromMs, toMs } = eveningSpan(run)
  return atMs => {
    const passedMs = Math.max(0, atMs - fromMs)
    const ofEvening = Math.min(1, (passedMs % dayMs) / (toMs - fromMs))
    return evenings === 0 ? ofEvening : Math.min(1, (Math.floor(passedMs / dayMs) + ofEvening) / evenings)
  }
}

const dayMs = 86_400_000
