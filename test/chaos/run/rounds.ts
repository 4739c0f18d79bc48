import { checkAnswers } from '../checks/checking.ts'
import { checkDeadLetters } from '../checks/deadLetters.ts'
import type { System } from '../system/system.ts'
import { deckOf } from './deck.ts'
import { lineOf, type Outcome, type Round } from './outcome.ts'
import { injectFault } from './round.ts'
import { openRun, type Run, type RunWanted } from './run.ts'

/** Faults until the next set of events. */
const faultsAGeneration = 8

/**
 * Injects faults, one after the other, while the load runs and readers poll. After each: waits until the answers are
 * fresh again, stops the load, waits until all of it is counted, and compares every answer of this set of events and of
 * the last with a brute-force count; at the end, of all. Throws if the records are never counted.
 */
export async function runFaults<On extends System>(wanted: RunWanted<On>): Promise<Outcome> {
  const releases: (() => Promise<unknown>)[] = []
  try {
    const run = await openRun(wanted, releases)
    const rounds = await injectAll(run)
    await run.polling.stop()
    await checkAnswers(run, run.generations.all())
    const badRecords = await checkDeadLetters(run)
    const { polling, claims, etags, feeding, wrongs } = run
    const counts = { ...polling.seen(), ...claims.seen(), etags: etags.count(), records: feeding.sent() }
    return { seed: wanted.seed, rounds, wrongs: wrongs.list, badRecords, ...counts }
  } finally {
    for (const release of releases.reverse()) await release()
  }
}

async function injectAll<On extends System>(run: Run<On>): Promise<Round[]> {
  const { wanted, system, generations } = run
  const possible = await Promise.all(wanted.kinds.map(({ isPossible = () => true }) => isPossible(system)))
  const deck = deckOf({ ...wanted, kinds: wanted.kinds.filter((_, index) => possible[index]) })
  const rounds: Round[] = []
  for (const [index, fault] of deck.entries()) {
    wanted.signal?.throwIfAborted()
    wanted.log(`${index + 1}/${deck.length} ${fault.name}`)
    const round = await injectFault(run, fault, index)
    rounds.push(round)
    wanted.log(lineOf(round))
    if ((index + 1) % faultsAGeneration === 0 && index + 1 < deck.length) generations.next()
  }
  return rounds
}
