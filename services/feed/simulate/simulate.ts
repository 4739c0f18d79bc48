import { festivals } from '../festivals/index.ts'
import type { FeedRecord, Position } from '../record.ts'
import { festivalDay, organizationRecord, type Run } from './calendar.ts'
import { type Evening, simulateEvening } from './evening.ts'

/** `evenings` 0 means endless. `orders`: of one evening, over all organizations. `from`: where an earlier run ended. */
export type Simulation = Run & { evenings: number; from?: Position }

/**
 * The records of festival evenings: first the organizations, then evening by evening each event with its day
 * open, its orders and refunds in the order of their own time, and the event with its day closed. The same
 * options give the same records, byte for byte.
 */
export function* simulate({ evenings, from, ...run }: Simulation): Generator<FeedRecord> {
  const { fromMs } = eveningSpan(run)
  const atMs = from === undefined ? fromMs : null
  for (const festival of festivals) {
    const value = JSON.stringify(organizationRecord(festival))
    yield { atMs, topic: 'organizations', key: festival.organizationId, value }
  }
  for (let evening = from?.evening ?? 0; evenings === 0 || evening < evenings; evening++) {
    yield* restOfEvening({ ...run, evening }, evening === from?.evening ? from.records : 0)
  }
}

/**
 * An evening without its first `sent` records. The events among those come once more, which changes nothing, because
 * topics may have begun empty since: they have no time, so that nothing waits for them.
 */
function* restOfEvening(run: Evening, sent: number): Generator<FeedRecord> {
  let records = 0
  for (const record of simulateEvening(run)) {
    records++
    const position = { evening: run.evening, records }
    if (records > sent) yield { ...record, position }
    else if (record.topic === 'events') yield { ...record, atMs: null }
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
export function simulationShare({ evenings, ...run }: Omit<Simulation, 'from'>): (atMs: number) => number {
  const { fromMs, toMs } = eveningSpan(run)
  return atMs => {
    const passedMs = Math.max(0, atMs - fromMs)
    const ofEvening = Math.min(1, (passedMs % dayMs) / (toMs - fromMs))
    return evenings === 0 ? ofEvening : Math.min(1, (Math.floor(passedMs / dayMs) + ofEvening) / evenings)
  }
}

const dayMs = 86_400_000
